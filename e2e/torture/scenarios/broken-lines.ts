import { setTimeout as sleep } from 'node:timers/promises';
import { CLOCKS } from '#lib/protocol/limits';
import type { Random } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { inNetworkWorld, type LinedClient, takenOf, untilOffers } from '../world/network-world.ts';
import { BOTH, type Direction } from '../world/toxic-proxy.ts';
import type { World } from '../world/world.ts';
import { beatMsOf, hurriedPatches } from './hurried-heartbeat.ts';

export const FAULTS = ['rst', 'fin', 'hold'] as const;
export const SIDES: readonly (readonly Direction[])[] = [['up'], ['down'], BOTH];
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
  run: (context) =>
    inNetworkWorld(context, { clients: CASES.length }, async ({ world, clients }) => {
      const beatMs = beatMsOf(context);
      const rounds = context.rounds({ full: 2, short: 1 });
      let slowest = 0;
      for (let round = 0; round < rounds; round += 1) {
        const took = await Promise.all(
          CASES.map((one, index) => {
            const client = clients[index];
            if (!client) throw new Error('there are more cases than clients');
            return breakLine(context.random.fork(`${round}/${index}`), world, client, one, beatMs);
          }),
        );
        slowest = Math.round(Math.max(slowest, ...took));
        context.say(`${(round + 1) * CASES.length} lines broken`);
      }
      if (slowest > BACK_MS) {
        const detail = `a client took ${slowest} ms to be back on its mended line; at most ${BACK_MS}`;
        context.bad('I14', detail);
      }
      const { figures, records } = await world.rest();
      const taken = takenOf(records, HELD_BEATS * beatMs);
      mustSucceed(context.bad, records, 'each line was mended in time', taken);
      const broken = rounds * CASES.length;
      const untaken = records.size - taken.length;
      return {
        figures: { ...figures, broken, never_taken: untaken, back_ms_max: slowest },
        summary: `${broken} broken lines (RST, FIN, black hole × 3 directions): ${figures.accepted} calls, ${figures.succeeded} succeeded once, ${untaken} were taken by no client within ${CLOCKS.queueMs / 1000} s and ended unexecuted; back at most ${slowest} ms after it was mended`,
      };
    }),
};

/** Resolves with the milliseconds until the client was back. */
async function breakLine(
  random: Random,
  { api, watcher }: World,
  client: LinedClient,
  { fault, sides }: (typeof CASES)[number],
  beatMs: number,
): Promise<number> {
  const timeoutMs = Math.max(60_000, TIMEOUT_BEATS * beatMs);
  const options = { timeout_ms: timeoutMs, client: client.id };
  const ask = (ms: number) => api.invoke('effect', { ...options, args: { ms, bytes: 2_000 } });
  const before = [await ask(0), await ask(200), await ask(2 * beatMs)];
  await sleep(random.between(0, 60));
  if (fault === 'hold') {
    client.line.hold(sides);
    if (random.chance(0.5)) before.push(await ask(0));
    await sleep(HELD_BEATS * beatMs + random.between(0, beatMs));
  } else client.line.end(fault, sides);
  client.line.mend();
  const mendedAt = performance.now();
  await untilOffers(watcher, client.name, HELD_BEATS * beatMs + 2 * BACK_MS);
  const took = performance.now() - mendedAt;
  // Whoever was told nothing finds out by its own; then all of them end.
  await Promise.all(before.map((id) => api.end(id, timeoutMs)));
  return took;
}
