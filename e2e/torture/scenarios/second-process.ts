import { freePort } from '../../support/free-port.ts';
import type { Scenario } from '../scenario.ts';
import { startServer } from '../world/server-process.ts';
import { inWorld } from '../world/world.ts';

const IN_USE = 75;
/** It waits a second for a predecessor that is on its way out. */
const ENDS_WITHIN_MS = 30_000;

/** A second server on the directory of a living one ends by itself, and the first does not notice. */
export const secondProcess: Scenario = {
  id: 'F09',
  name: 'a second process on the same data directory',
  run: (context) =>
    inWorld(context, {}, async (world) => {
      const rounds = context.rounds({ full: 10, short: 1 });
      const bad = (detail: string) => context.bad('HEALTH', detail);
      const { serverFile } = context.build;
      let slowest = 0;
      await world.startServer();
      world.startClients();
      world.startLoad();
      for (let round = 0; round < rounds; round += 1) {
        await world.untilAccepted(20);
        const startedAt = performance.now();
        const second = startServer({
          serverFile,
          dataDir: world.dataDir,
          token: 'another-token-of-its-own',
          port: await freePort(),
        });
        if ((await second.ready) !== undefined) {
          bad('a second server served on the directory of the first');
          await second.end('SIGKILL');
          continue;
        }
        const { code } = await second.ended;
        const took = performance.now() - startedAt;
        slowest = Math.max(slowest, took);
        if (code !== IN_USE)
          bad(`the second server ended with ${code} instead of ${IN_USE}: ${second.log().trim()}`);
        if (took > ENDS_WITHIN_MS) bad(`the second server took ${Math.round(took)} ms to end`);
        await world.untilAccepted(20);
      }
      const { figures } = await world.rest();
      return {
        figures: { ...figures, refused: rounds, refused_ms_max: Math.round(slowest) },
        summary: `${rounds} × a second process: ended with ${IN_USE} after at most ${Math.round(slowest)} ms; ${figures.accepted} calls of the first went on`,
      };
    }),
};
