import { setTimeout as sleep } from 'node:timers/promises';
import { CLOCKS } from '#lib/protocol/limits';
import type { Random } from '../random.ts';
import type { Scenario, Violation } from '../scenario.ts';
import { askCall, callEnd } from '../world/ask-call.ts';
import {
  createNetworkWorld,
  type LinedClient,
  type NetworkWorld,
  notSucceeded,
  untakenOf,
  untilOffers,
} from '../world/network-world.ts';
import { BOTH, type Direction } from '../world/toxic-proxy.ts';
import { beatMsOf, hurriedPatches } from './hurried-heartbeat.ts';

const FAULTS = ['rst', 'fin', 'hold'] as const;
const SIDES: readonly (readonly Direction[])[] = [['up'], ['down'], BOTH];
const CASES = FAULTS.flatMap((fault) => SIDES.map((sides) => ({ fault, sides })));

/** Everything lies in a line for so many heartbeats: longer than anybody takes to notice. */
const HELD_BEATS = 6;
/** From the mended line to the client in the list: an attempt of 5 s under way, and a wait. */
const BACK_MS = 40_000;
/** More than a broken line takes to be noticed. */
const TIMEOUT_BEATS = 10;

/**
 * Each way of ending or filling a line, towards each side, under clients that
 * have calls in every state. All of the calls have to succeed.
 */
export const brokenLines: Scenario = {
  id: 'F11',
  name: 'RST, FIN and a black hole, towards the server, the client, and both',
  patches: hurriedPatches,
  async run(context) {
    const { build, random } = context;
    const beatMs = beatMsOf(context);
    const dir = await context.tempDir();
    const rounds = context.rounds({ full: 2, short: 1 });
    const network = await createNetworkWorld({ build, dir, random, clients: CASES.length });
    const violations: Violation[] = [];
    let slowest = 0;
    try {
      for (let round = 0; round < rounds; round += 1) {
        const took = await Promise.all(
          network.clients.map(async (client, index) => {
            const one = CASES[index];
            if (!one) throw new Error('there are more clients than cases');
            const own = random.fork(`${round}/${index}`);
            return breakLine(own, network, { client, ...one, beatMs });
          }),
        );
        slowest = Math.max(slowest, ...took);
        context.say(`${(round + 1) * CASES.length} lines broken`);
      }
      if (slowest > BACK_MS) {
        const detail = `a client took ${Math.round(slowest)} ms to be back on its mended line; at most ${BACK_MS}`;
        violations.push({ invariant: 'I14', detail });
      }
      const { figures, violations: found, records } = await network.world.rest();
      const all = [...records.values()];
      const untaken = untakenOf(all, HELD_BEATS * beatMs);
      const rest = all.filter((record) => !untaken.includes(record));
      const lost = notSucceeded(rest, 'each line was mended in time');
      return {
        figures: {
          ...figures,
          broken: rounds * CASES.length,
          never_taken: untaken.length,
          back_ms_max: Math.round(slowest),
        },
        violations: [...violations, ...found, ...lost],
        summary: `${rounds * CASES.length} broken lines (RST, FIN, black hole × 3 directions): ${figures.accepted} calls, ${figures.succeeded} succeeded once, ${untaken.length} were taken by no client within ${CLOCKS.queueMs / 1000} s and ended unexecuted; back at most ${Math.round(slowest)} ms after it was mended`,
      };
    } finally {
      await network.end();
    }
  },
};

interface Break {
  readonly client: LinedClient;
  readonly fault: (typeof FAULTS)[number];
  readonly sides: readonly Direction[];
  readonly beatMs: number;
}

/** Resolves with the milliseconds until the client was back. */
async function breakLine(
  random: Random,
  { world, watch }: NetworkWorld,
  { client, fault, sides, beatMs }: Break,
): Promise<number> {
  const timeoutMs = Math.max(60_000, TIMEOUT_BEATS * beatMs);
  const ask = (ms: number) =>
    askCall(world, 'effect', { timeoutMs, client: client.id, ms, bytes: 2_000 });
  const before = [await ask(0), await ask(200), await ask(2 * beatMs)];
  await sleep(random.between(0, 60));
  if (fault === 'hold') {
    client.line.hold(sides);
    const during = random.chance(0.5) ? [await ask(0)] : [];
    before.push(...during);
    await sleep(HELD_BEATS * beatMs + random.between(0, beatMs));
  } else client.line.end(fault, sides);
  client.line.mend();
  const mendedAt = performance.now();
  await untilOffers(watch, client.name, HELD_BEATS * beatMs + 2 * BACK_MS);
  const took = performance.now() - mendedAt;
  // Whoever was told nothing finds out by its own; then all of them end.
  await Promise.all(before.map((id) => callEnd(world, id, timeoutMs)));
  return took;
}
