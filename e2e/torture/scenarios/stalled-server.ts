import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario, TortureContext } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { hasAnswered } from '../world/client-facts.ts';
import { inNetworkWorld, type NetworkWorld } from '../world/network-world.ts';
import { must } from '../world/until.ts';
import { beatMsOf, hurriedPatches } from './hurried-heartbeat.ts';

/** An answer of a server that goes on again. */
const HEALTHY_MS = 15_000;
const LOAD_TIMEOUT_MS = 120_000;
/** The clock of calls that runs out while the server stands still, and the time that their tool takes. */
const HURRIED_MS = 1_000;
const TOOL_MS = 200;
/** Between two stalls; and long enough for a watcher to see what is made of them. */
const GAP_MS = 10;
const SHOWN_MS = 200;
/** From a client's word that it has sent its answer until that lies in the server's socket. */
const ARRIVED_MS = 250;

/**
 * The server stands still under load. What had arrived in time counts, however
 * late it is read, and nobody is shown as silent for what the server missed.
 */
export const stalledServer: Scenario = {
  id: 'F19',
  name: 'the server stands still for 50 ms to 10 s',
  patches: hurriedPatches,
  run: (context) =>
    inNetworkWorld(context, { callers: 3, timeoutMs: LOAD_TIMEOUT_MS }, async (network) => {
      const { random, isShort, bad } = context;
      const beatMs = beatMsOf(context);
      const { world, clients } = network;
      const stalls = isShort
        ? [50, 700, 1_400, 3 * beatMs]
        : Array.from({ length: context.rounds({ full: 50, short: 4 }) }, (_, index) =>
            index % 10 === 9 ? random.between(8_000, 10_000) : random.between(50, 2_500),
          );
      const all: Stall[] = [];
      world.startLoad();
      for (const ms of stalls) all.push(await stall(context, network, ms));
      const slowest = Math.round(Math.max(...all.map(({ healthyMs }) => healthyMs)));
      if (slowest > HEALTHY_MS)
        bad('HEALTH', `after a stall /healthz took ${slowest} ms; at most ${HEALTHY_MS}`);
      const { figures, records } = await world.rest();
      // Without load: what a held line brings too late is not in time.
      if (!isShort) await stallTwice(network, 1.5 * beatMs);
      // A client that the machine does not let run is silent by itself where heartbeats are short; see F19b.
      for (const { name } of isShort ? [] : clients) {
        const shown = world.watcher.sightings(name).slice(1);
        if (shown.some(({ listing }) => listing?.responsive !== true))
          bad('I14', `${name} was shown as silent or gone for a stall of the server`);
      }
      const tooSlow = new Set(all.flatMap(({ id, isInTime }) => (isInTime ? [] : [id])));
      const inTime = [...records.keys()].filter((id) => !tooSlow.has(id));
      mustSucceed(bad, records, 'each answer had arrived in time', inTime);
      const counts = { stalls: stalls.length, too_slow: tooSlow.size };
      return {
        figures: { ...figures, ...counts, healthy_ms_max: slowest },
        summary: `${stalls.length} stalls of ${Math.min(...stalls)} to ${Math.max(...stalls)} ms: ${figures.accepted} calls, ${figures.succeeded} succeeded, no client shown as gone; healthy after at most ${slowest} ms`,
      };
    }),
};

/** Messages between the two, such as the answer to its probe, reach the server a moment after them. */
async function stallTwice({ world, clients }: NetworkWorld, ms: number): Promise<void> {
  const { pid } = world.server;
  for (const { line } of clients) line.hold(['up']);
  for (const gapMs of [GAP_MS, SHOWN_MS]) {
    process.kill(pid, 'SIGSTOP');
    await sleep(ms);
    process.kill(pid, 'SIGCONT');
    await sleep(gapMs);
  }
  for (const { line } of clients) line.mend();
}

interface Stall {
  readonly id: string;
  /** It was granted, and its time was not over, when the server stopped. */
  readonly isInTime: boolean;
  /** Until the server was healthy again. */
  readonly healthyMs: number;
}

async function stall(
  { random }: TortureContext,
  { world, clients }: NetworkWorld,
  ms: number,
): Promise<Stall> {
  const { api } = world;
  const client = random.pick(clients);
  const { pid } = world.server;
  const startedAt = performance.now();
  const asked = { timeout_ms: HURRIED_MS, client: client.id, args: { ms: TOOL_MS } };
  const id = await api.invoke('effect', asked);
  const { phase } = await must(`${id} is granted`, async () => {
    const record = await api.tryRead(id);
    return (record?.phase === 'granted' || record?.phase === null) && record;
  });
  process.kill(pid, 'SIGSTOP');
  const stoppedAt = performance.now();
  const isInTime = phase === 'granted' && stoppedAt - startedAt < HURRIED_MS;
  if (isInTime) {
    await must(`${id} is answered`, () => hasAnswered(client.process.config, id));
    await sleep(ARRIVED_MS);
  }
  const now = performance.now();
  await sleep(Math.max(ms - (now - stoppedAt), HURRIED_MS - (now - startedAt) + 50));
  process.kill(pid, 'SIGCONT');
  const goesOnAt = performance.now();
  await api.ask('GET', '/healthz');
  const healthyMs = performance.now() - goesOnAt;
  await api.end(id, LOAD_TIMEOUT_MS);
  return { id, isInTime, healthyMs };
}
