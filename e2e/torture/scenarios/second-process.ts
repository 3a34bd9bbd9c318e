import type { Scenario, Violation } from '../scenario.ts';
import { startServer, takePort } from '../world/server-process.ts';
import { createWorld } from '../world/world.ts';

const IN_USE = 75;
/** It waits a second for a predecessor that is on its way out. */
const ENDS_WITHIN_MS = 30_000;

/** A second server on the directory of a living one ends by itself, and the first does not notice. */
export const secondProcess: Scenario = {
  id: 'F09',
  name: 'a second process on the same data directory',
  async run(context) {
    const { build, random } = context;
    const dir = await context.tempDir();
    const world = await createWorld({ build, dir, random });
    const rounds = context.rounds({ full: 10, short: 1 });
    const violations: Violation[] = [];
    const bad = (detail: string) => violations.push({ invariant: 'HEALTH', detail });
    let slowest = 0;
    try {
      await world.startServer();
      for (const client of world.clients) world.startClient(client);
      world.startLoad();
      for (let round = 0; round < rounds; round += 1) {
        await world.untilAccepted(20);
        const startedAt = performance.now();
        const options = {
          serverFile: build.serverFile,
          dataDir: world.dataDir,
          token: 'another-token-of-its-own',
        };
        const second = startServer({ ...options, port: await takePort() });
        const served = await second.ready;
        if (served !== undefined) {
          bad('a second server served on the directory of the first');
          await second.kill();
          continue;
        }
        const { code } = await second.ended;
        const said = second.log().trim();
        const took = performance.now() - startedAt;
        slowest = Math.max(slowest, took);
        if (code !== IN_USE)
          bad(`the second server ended with ${code} instead of ${IN_USE}: ${said}`);
        if (took > ENDS_WITHIN_MS) bad(`the second server took ${Math.round(took)} ms to end`);
        await world.untilAccepted(20);
      }
      const { figures, violations: found } = await world.rest();
      return {
        figures: { ...figures, refused: rounds, refused_ms_max: Math.round(slowest) },
        violations: [...violations, ...found],
        summary: `${rounds} × a second process: ended with ${IN_USE} after at most ${Math.round(slowest)} ms; ${figures.accepted} calls of the first went on`,
      };
    } finally {
      await world.end();
    }
  },
};
