import { createBarrier } from './barrier.ts';
import { startChild } from './child.ts';
import { connectEcho, connectEchoes } from './echo-client.ts';
import { BASELINES, type Calls, KINDS, type Run, type Way } from './kinds.ts';
import { startPostgres } from './postgres.ts';
import { inParallel } from './stats.ts';

/** Calls of the core alone, over a real socket to the client; beside them the disk, and Postgres where there is one. */
export async function openInside(): Promise<Way> {
  const child = await startChild('inside-server.ts');
  const url = `ws://127.0.0.1:${(child.ready as { port: number }).port}`;
  const clients = [
    await connectEcho(`${url}/raw`),
    await connectEchoes(`${url}/client`, KINDS, 'no token is asked for here'),
  ];
  const barrier = createBarrier();
  const postgres = await startPostgres();
  const inChild = (series: string): Run => {
    return async (count, inFlight) =>
      (await child.ask({ type: 'calls', series, count, inFlight })) as Calls;
  };
  return {
    runs: {
      fsync: (count, inFlight) => inParallel(count, inFlight, barrier.durable),
      ...(postgres ? { Postgres: postgres.pairs } : {}),
      ...Object.fromEntries([...BASELINES, ...KINDS].map((series) => [series, inChild(series)])),
    },
    async close() {
      for (const client of clients) client.close();
      barrier.remove();
      await postgres?.stop();
      await child.stop();
    },
  };
}
