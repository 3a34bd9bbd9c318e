import { once } from 'node:events';
import { WebSocket } from 'ws';
import { startChild } from './child.ts';
import { connectEcho } from './echo-client.ts';
import { type Ratio, ratio, round } from './stats.ts';

const WATCHERS = 100;
const OPEN_CALLS = 300;
const ENDED_CALLS = 250;
const ARGUMENT_BYTES = 200_000;
/** The longest that the loop of the server may be stalled. */
const STALL_MS = 50;

/** Many watchers that come at one moment, to large calls: how long the server's loop is stalled. */
export async function benchArrivals(): Promise<{ ratios: Ratio[]; detail: object }> {
  const child = await startChild('inside-server.ts');
  const url = `ws://127.0.0.1:${(child.ready as { port: number }).port}`;
  try {
    const echo = await connectEcho(`${url}/client`, { kind: 'plain' });
    await child.ask({ type: 'calls', series: 'plain', count: ENDED_CALLS, inFlight: 8 });
    await child.ask({ type: 'open', count: OPEN_CALLS, bytes: ARGUMENT_BYTES });
    const rounds = [];
    for (let n = 0; n < 5; n += 1) rounds.push(await arrive(child, url));
    echo.close();
    const worst = Math.max(...rounds.map(({ processorMs }) => processorMs));
    return {
      ratios: [
        ratio(
          `${WATCHERS} watchers at once: the longest turn`,
          'ms of processor',
          worst,
          STALL_MS,
          {
            atMost: 1,
          },
        ),
      ],
      detail: { watchers: WATCHERS, open: OPEN_CALLS, ended: ENDED_CALLS, rounds },
    };
  } finally {
    await child.stop();
  }
}

interface Stall {
  readonly ms: number;
  /** Of the thread itself, whatever else the machine does. */
  readonly processorMs: number;
}

async function arrive(child: Awaited<ReturnType<typeof startChild>>, url: string) {
  const sockets = await Promise.all(
    Array.from({ length: WATCHERS }, async () => {
      const socket = new WebSocket(`${url}/watch`, { perMessageDeflate: false });
      await once(socket, 'open');
      return socket;
    }),
  );
  await child.ask({ type: 'stall', reset: true });
  const begin = performance.now();
  const bytes = await Promise.all(
    sockets.map(async (socket) => {
      const frame = once(socket, 'message');
      socket.send('{"type":"watch"}');
      const [data] = await frame;
      return (data as Buffer).length;
    }),
  );
  const allMs = round(performance.now() - begin, 1);
  const stall = (await child.ask({ type: 'stall', reset: false })) as Stall;
  for (const socket of sockets) socket.terminate();
  return {
    stallMs: round(stall.ms, 1),
    processorMs: round(stall.processorMs, 1),
    allMs,
    snapshotBytes: Math.max(...bytes),
  };
}
