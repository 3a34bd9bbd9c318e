import type { Scenario, Violation } from '../scenario.ts';
import { createWorld } from '../world/world.ts';
import { KILL_POINTS, killPointPatches } from './kill-points.ts';

/** Load brings a call to every point within this time. */
const REACH_MS = 120_000;

/**
 * The server ends itself at each point in turn, and its clients live on. So
 * nothing may be unknown: for each point, every call has to succeed, done once.
 */
export const killAtPoints: Scenario = {
  id: 'F02',
  name: `kill -9 of the server at ${KILL_POINTS.length} named points`,
  patches: killPointPatches,
  async run(context) {
    const { build, random } = context;
    const times = context.rounds({ full: 12, short: 1 });
    const dir = await context.tempDir();
    let killAt = '';
    const env = () => (killAt === '' ? {} : { KILL_AT: killAt });
    const world = await createWorld({ build, dir, random, timeoutMs: 240_000, serverEnv: env });
    const violations: Violation[] = [];
    let kills = 0;
    try {
      for (const client of world.clients) world.startClient(client);
      world.startLoad();
      const points = Array.from({ length: times }, () => random.shuffle(KILL_POINTS))
        .flat()
        .slice(0, context.isShort ? 6 : undefined);
      for (const point of points) {
        killAt = `${point}:${random.between(1, 25)}`;
        await world.startServer();
        const ended = await Promise.race([world.server.ended, after(REACH_MS)]);
        if (ended?.signal === 'SIGKILL') kills += 1;
        else {
          const detail = `${killAt} was not reached in ${REACH_MS} ms, or the server ended: ${ended?.code}`;
          violations.push({ invariant: 'HEALTH', detail });
          await world.server.kill();
        }
      }
      killAt = '';
      await world.startServer();
      const rest = await world.rest();
      for (const { tool_call_id: id, status, error } of rest.records.values()) {
        if (status === 'SUCCEEDED') continue;
        const detail = `${id} ended ${status} (${error?.code}); no client was ended, so it had to succeed`;
        violations.push({ invariant: 'I6', detail });
      }
      const { figures } = rest;
      return {
        figures: { ...figures, points: KILL_POINTS.length, kills },
        violations: [...rest.violations, ...violations],
        summary: `${kills} × kill -9 at ${KILL_POINTS.length} points: ${figures.accepted} accepted, ${figures.succeeded} of ${figures.calls} succeeded, each effect done once`,
      };
    } finally {
      await world.end();
    }
  },
};

const after = (ms: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), ms).unref());
