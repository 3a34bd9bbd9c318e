import { first, type Patch } from '../patch.ts';
import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { awaitEnd } from '../world/server-process.ts';
import { inWorld } from '../world/world.ts';

/** Moments in the life of a call, in the order in which it meets them; `// fault point: <name>` in the sources. */
const KILL_POINTS: readonly string[] = [
  'decided',
  'in-transaction',
  'committed',
  'written',
  'published',
  'before-offer',
  'offered',
  'claim-came',
  'grant-ready',
  'result-came',
  'result-written',
  'reply-sent',
];

/** Kills its own process on the nth pass, for a server that is started with `KILL_AT=<point>:<n>`. */
const killAt = (name: string): Patch =>
  first(
    name,
    `{ const [at, n] = (process.env.KILL_AT ?? '').split(':'); if (at === '${name}') { const g = globalThis; g.passes = (g.passes ?? 0) + 1; if (g.passes >= Number(n)) process.kill(process.pid, 'SIGKILL'); } }`,
  );

/** Load brings a call to every point within this time. */
const REACH_MS = 120_000;

/**
 * The server ends itself at each point in turn, and its clients live on. So
 * nothing may be unknown: for each point, every call has to succeed, done once.
 */
export const killAtPoints: Scenario = {
  id: 'F02',
  name: `kill -9 of the server at ${KILL_POINTS.length} named points`,
  // One build with all of the points.
  patches: () => KILL_POINTS.map(killAt),
  run(context) {
    const { random } = context;
    const times = context.rounds({ full: 12, short: 1 });
    let env: Readonly<Record<string, string>> = {};
    return inWorld(context, { timeoutMs: 240_000, serverEnv: () => env }, async (world) => {
      let kills = 0;
      world.startClients();
      world.startLoad();
      const points = Array.from({ length: times }, () => random.shuffle(KILL_POINTS))
        .flat()
        .slice(0, context.isShort ? 6 : undefined);
      for (const point of points) {
        env = { KILL_AT: `${point}:${random.between(1, 25)}` };
        await world.startServer();
        const ended = await awaitEnd(world.server, REACH_MS);
        if (ended?.signal === 'SIGKILL') kills += 1;
        else {
          const detail = `${env.KILL_AT} was not reached in ${REACH_MS} ms, or the server ended: ${ended?.code}`;
          context.bad('HEALTH', detail);
          await world.server.end('SIGKILL');
        }
      }
      env = {};
      await world.startServer();
      const { figures, records } = await world.rest();
      mustSucceed(context.bad, records, 'no client was ended');
      return {
        figures: { ...figures, points: KILL_POINTS.length, kills },
        summary: `${kills} × kill -9 at ${KILL_POINTS.length} points: ${figures.accepted} accepted, ${figures.succeeded} of ${figures.calls} succeeded, each effect done once`,
      };
    });
  },
};
