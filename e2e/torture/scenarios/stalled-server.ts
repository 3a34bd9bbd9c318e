import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario, TortureContext, Violation } from '../scenario.ts';
import { askCall, callEnd } from '../world/ask-call.ts';
import { createNetworkWorld, type NetworkWorld, notSucceeded } from '../world/network-world.ts';
import { until } from '../world/until.ts';
import { hurried } from './hurried-heartbeat.ts';

/** An answer of a server that goes on again. */
const HEALTHY_MS = 1_000;
const LOAD_TIMEOUT_MS = 30_000;
/** Of the calls whose clock runs out while the server stands still; and how long their tool takes. */
const HURRIED_MS = 600;
const TOOL_MS = 200;
/** Between two stalls; and long enough for a watcher to see what is made of them. */
const GAP_MS = 10;
const SHOWN_MS = 200;

/**
 * The server stands still under load. What had arrived in time counts, however
 * late it is read, and nobody is shown as silent for what the server missed.
 */
export const stalledServer: Scenario = {
  id: 'F19',
  name: 'the server stands still for 50 ms to 10 s',
  async run(context) {
    const { random } = context;
    const { build, beatMs } = await hurried(context);
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
    let slowest = 0;
    try {
      world.startLoad();
      for (const ms of stalls) slowest = Math.max(slowest, await stall(context, network, ms));
      if (slowest > HEALTHY_MS) {
        const detail = `after a stall /healthz took ${Math.round(slowest)} ms; at most ${HEALTHY_MS}`;
        violations.push({ invariant: 'HEALTH', detail });
      }
      const { figures, violations: found, records } = await world.rest();
      // Without load: what a held line brings too late is not in time.
      await stallTwice(network, 1.5 * beatMs);
      for (const { name } of clients) {
        const shown = watch.sightings(name).slice(1);
        if (shown.some(({ listing }) => listing?.responsive !== true)) {
          const detail = `${name} was shown as silent or gone for a stall of the server`;
          violations.push({ invariant: 'I14', detail });
        }
      }
      const lost = notSucceeded(records.values(), 'each answer had arrived in time');
      return {
        figures: { ...figures, stalls: stalls.length, healthy_ms_max: Math.round(slowest) },
        violations: [...violations, ...found, ...lost],
        summary: `${stalls.length} stalls of ${Math.min(...stalls)} to ${Math.max(...stalls)} ms: ${figures.accepted} calls, ${figures.succeeded} succeeded, no client shown as gone; healthy after at most ${Math.round(slowest)} ms`,
      };
    } finally {
      await network.end();
      await build.remove();
    }
  },
};

/** What is said between the two, as the answer to its probe, reaches the server a moment after them. */
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

/** Resolves with the milliseconds until the server was healthy again. */
async function stall(
  { random }: TortureContext,
  { world, clients }: NetworkWorld,
  ms: number,
): Promise<number> {
  const startedAt = performance.now();
  const id = await askCall(world, 'effect', {
    timeoutMs: HURRIED_MS,
    client: random.pick(clients).id,
    ms: TOOL_MS,
  });
  await until(`${id} is granted`, HURRIED_MS, async () => {
    const answer = await world.api.ask('GET', `/v1/tool_calls/${id}`);
    return (answer?.body as { phase?: string })?.phase === 'granted';
  });
  const { pid } = world.server;
  process.kill(pid, 'SIGSTOP');
  await sleep(Math.max(ms, HURRIED_MS - (performance.now() - startedAt) + 50));
  process.kill(pid, 'SIGCONT');
  const goesOnAt = performance.now();
  await world.api.ask('GET', '/healthz');
  const healthyMs = performance.now() - goesOnAt;
  await callEnd(world, id, LOAD_TIMEOUT_MS);
  return healthyMs;
}
