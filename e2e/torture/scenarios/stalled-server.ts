import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario, TortureContext, Violation } from '../scenario.ts';
import { askCall, callEnd } from '../world/ask-call.ts';
import { hasAnswered } from '../world/client-facts.ts';
import { createNetworkWorld, type NetworkWorld, notSucceeded } from '../world/network-world.ts';
import { until } from '../world/until.ts';
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
const PATIENCE_MS = 60_000;

/**
 * The server stands still under load. What had arrived in time counts, however
 * late it is read, and nobody is shown as silent for what the server missed.
 */
export const stalledServer: Scenario = {
  id: 'F19',
  name: 'the server stands still for 50 ms to 10 s',
  patches: hurriedPatches,
  async run(context) {
    const { build, random } = context;
    const beatMs = beatMsOf(context);
    const dir = await context.tempDir();
    const options = { build, dir, random, callers: 3, timeoutMs: LOAD_TIMEOUT_MS };
    const network = await createNetworkWorld(options);
    const { world, clients, watch } = network;
    const stalls = context.isShort
      ? [50, 700, 1_400, 3 * beatMs]
      : Array.from({ length: context.rounds({ full: 50, short: 4 }) }, (_, index) =>
          index % 10 === 9 ? random.between(8_000, 10_000) : random.between(50, 2_500),
        );
    const violations: Violation[] = [];
    const all: Stall[] = [];
    try {
      world.startLoad();
      for (const ms of stalls) all.push(await stall(context, network, ms));
      const slowest = Math.max(...all.map(({ healthyMs }) => healthyMs));
      if (slowest > HEALTHY_MS) {
        const detail = `after a stall /healthz took ${Math.round(slowest)} ms; at most ${HEALTHY_MS}`;
        violations.push({ invariant: 'HEALTH', detail });
      }
      const { figures, violations: found, records } = await world.rest();
      // Without load: what a held line brings too late is not in time.
      if (!context.isShort) await stallTwice(network, 1.5 * beatMs);
      // A client that the machine does not let run is silent by itself where heartbeats are short; see F19b.
      for (const { name } of context.isShort ? [] : clients) {
        const shown = watch.sightings(name).slice(1);
        if (shown.some(({ listing }) => listing?.responsive !== true)) {
          const detail = `${name} was shown as silent or gone for a stall of the server`;
          violations.push({ invariant: 'I14', detail });
        }
      }
      const tooSlow = new Set(all.flatMap(({ id, isInTime }) => (isInTime ? [] : [id])));
      const answered = [...records.values()].filter((one) => !tooSlow.has(one.tool_call_id));
      const lost = notSucceeded(answered, 'each answer had arrived in time');
      return {
        figures: {
          ...figures,
          stalls: stalls.length,
          too_slow: tooSlow.size,
          healthy_ms_max: Math.round(slowest),
        },
        violations: [...violations, ...found, ...lost],
        summary: `${stalls.length} stalls of ${Math.min(...stalls)} to ${Math.max(...stalls)} ms: ${figures.accepted} calls, ${figures.succeeded} succeeded, no client shown as gone; healthy after at most ${Math.round(slowest)} ms`,
      };
    } finally {
      await network.end();
    }
  },
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
  const client = random.pick(clients);
  const { pid } = world.server;
  const startedAt = performance.now();
  const id = await askCall(world, 'effect', {
    timeoutMs: HURRIED_MS,
    client: client.id,
    ms: TOOL_MS,
  });
  const phase = await until(`${id} is granted`, PATIENCE_MS, async () => {
    const answer = await world.api.ask('GET', `/v1/tool_calls/${id}`);
    const now = (answer?.body as { phase?: string | null })?.phase;
    return now === 'granted' || now === null ? { now } : undefined;
  });
  process.kill(pid, 'SIGSTOP');
  const stoppedAt = performance.now();
  const isInTime = phase.now === 'granted' && stoppedAt - startedAt < HURRIED_MS;
  if (isInTime) {
    const hasSent = () => hasAnswered(client.process.config, id);
    await until(`${id} is answered`, PATIENCE_MS, hasSent);
    await sleep(ARRIVED_MS);
  }
  const now = performance.now();
  await sleep(Math.max(ms - (now - stoppedAt), HURRIED_MS - (now - startedAt) + 50));
  process.kill(pid, 'SIGCONT');
  const goesOnAt = performance.now();
  await world.api.ask('GET', '/healthz');
  const healthyMs = performance.now() - goesOnAt;
  await callEnd(world, id, LOAD_TIMEOUT_MS);
  return { id, isInTime, healthyMs };
}
