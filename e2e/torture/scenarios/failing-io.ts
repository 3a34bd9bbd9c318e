import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { awaitEnd } from '../world/server-process.ts';
import { inShimmedWorld, type ShimmedWorld } from '../world/shimmed-world.ts';
import { until } from '../world/until.ts';

/** A call of the store may take so long to be reached and to fail. */
const REACH_MS = 6_000;
/** Ends that say what is wrong: mendable, store failed, damaged. */
const CLEAN_ENDS = [1, 74];
const LAST = 90;

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
        const { world, serverDisk } = shimmed;
        const { random } = context;
        world.startClients();
        world.startLoad();
        await world.startServer();
        await world.untilAccepted(10);
        await world.server.end('SIGKILL');
        const step = Math.max(1, Math.round(LAST / context.rounds({ full: LAST, short: 4 })));
        const counts = { tried: 0, failed_calls: 0, refused_start: 0, unreached: 0 };
        for (let n = random.between(1, step); n <= LAST; n += step) {
          const { failed, started } = await failAt(shimmed, n, random);
          counts.tried += 1;
          counts.failed_calls += failed;
          counts.refused_start += started ? 0 : 1;
          counts.unreached += failed === 0 ? 1 : 0;
          serverDisk.control.heal();
          await world.server.end('SIGKILL');
        }
        if ((await world.startServer()) === undefined) {
          const rest = await world.rest();
          return { ...rest, summary: 'after the last failure it did not start any more' };
        }
        const { figures } = await world.rest();
        return {
          figures: { ...figures, ...counts },
          summary: `${counts.tried} of the first ${LAST} calls to the disk failed, one by one (EIO, ENOSPC, short writes): ${counts.refused_start} starts refused, ${figures.accepted} accepted, ${context.violations.length} violations`,
        };
      },
    ),
};

async function failAt(
  { world, serverDisk: { control } }: ShimmedWorld,
  n: number,
  random: Random,
): Promise<{ failed: number; started: boolean }> {
  const failure = {
    atCall: n,
    error: random.pick(['EIO', 'ENOSPC'] as const),
    isSticky: random.chance(0.5),
    isShort: random.chance(0.3),
  };
  control.fail(failure);
  const bad = (what: string) =>
    world.bad(
      'HEALTH',
      `${JSON.stringify(failure)}: it ended with ${what}: ${world.server.log().slice(-900)}`,
    );
  const ms = await world.startServer();
  await until(() => !world.server.isAlive || control.failed > 0, REACH_MS);
  await sleep(30);
  const exit = await awaitEnd(world.server, 0);
  if (exit && !CLEAN_ENDS.includes(exit.code ?? -1)) bad(`${exit.signal ?? exit.code}`);
  if (exit && /"level":50|unexpected/.test(world.server.log())) bad('a defect');
  return { failed: control.failed, started: ms !== undefined };
}
