import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario, Violation } from '../scenario.ts';
import { inShimmedWorld, type ShimmedWorld } from '../world/shimmed-world.ts';
import { awaitEnd } from './await-end.ts';

/** A call of the store may take so long to be reached and to fail. */
const REACH_MS = 6_000;
/** Ends that say what is wrong: mendable, store failed, damaged. */
const CLEAN_ENDS = [1, 74];

/**
 * The nth write, sync or truncation of the server fails: n from the first one of
 * its start on. Either it says so and ends, or it serves on; after a start on a
 * sound disk nothing that was accepted is missing.
 */
export const failingIo: Scenario = {
  id: 'F07',
  name: 'the nth call to the disk fails',
  run: (context) =>
    inShimmedWorld(
      context,
      { keepsLog: false, withClients: false, callers: 4, timeoutMs: 8_000 },
      async (shimmed) => {
        const { world } = shimmed;
        const { random } = context;
        const violations: Violation[] = [];
        for (const client of world.clients) world.startClient(client);
        world.startLoad();
        await world.startServer();
        await world.untilAccepted(10);
        await world.server.kill();
        const last = 90;
        const step = Math.max(1, Math.round(last / context.rounds({ full: 90, short: 4 })));
        const first = random.between(1, step);
        let [failed, refusedStart, unreached] = [0, 0, 0];
        for (let n = first; n <= last; n += step) {
          const outcome = await failAt(shimmed, n, random);
          violations.push(...outcome.violations);
          failed += outcome.failed;
          refusedStart += outcome.started ? 0 : 1;
          unreached += outcome.failed === 0 ? 1 : 0;
          shimmed.serverDisk.control.heal();
          await world.server.kill();
        }
        const ready = await world.startServer();
        if (ready === undefined) {
          const rest = await world.rest();
          return { ...rest, summary: 'after the last failure it did not start any more' };
        }
        const { figures, violations: found } = await world.rest();
        const tried = Math.floor((last - first) / step) + 1;
        return {
          figures: {
            ...figures,
            tried,
            failed_calls: failed,
            refused_start: refusedStart,
            unreached,
          },
          violations: [...violations, ...found],
          summary: `${tried} of the first ${last} calls to the disk failed, one by one (EIO, ENOSPC, short writes): ${refusedStart} starts refused, ${figures.accepted} accepted, ${found.length} violations`,
        };
      },
    ),
};

async function failAt(
  { world, serverDisk }: ShimmedWorld,
  n: number,
  random: { pick<T>(choices: readonly T[]): T; chance(p: number): boolean },
): Promise<{ violations: Violation[]; failed: number; started: boolean }> {
  const { control } = serverDisk;
  const failure = {
    atCall: n,
    error: random.pick(['EIO', 'ENOSPC'] as const),
    isSticky: random.chance(0.5),
    isShort: random.chance(0.3),
  };
  control.fail(failure);
  const bad = (detail: string): Violation => ({
    invariant: 'HEALTH',
    detail: `${JSON.stringify(failure)}: ${detail}`,
  });
  const violations: Violation[] = [];
  const ms = await world.startServer();
  const giveUpAt = performance.now() + REACH_MS;
  while (world.server.isAlive && control.failed === 0 && performance.now() < giveUpAt)
    await sleep(5);
  await sleep(30);
  const exit = await awaitEnd(world.server, 0);
  if (exit && !CLEAN_ENDS.includes(exit.code ?? -1)) {
    violations.push(
      bad(`it ended with ${exit.signal ?? exit.code}: ${world.server.log().slice(-600)}`),
    );
  }
  if (exit && /"level":50|unexpected/.test(world.server.log())) {
    violations.push(bad(`it ended with a defect: ${world.server.log().slice(-900)}`));
  }
  return { violations, failed: control.failed, started: ms !== undefined };
}
