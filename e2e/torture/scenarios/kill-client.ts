import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';
import { inWorld } from '../world/world.ts';

/**
 * The only client is killed in the middle of its calls and started again: what
 * it had finished counts, what it had begun is unknown, the rest is run. In a
 * part of the rounds the server is away meanwhile, so that answers wait in the
 * outbox, or the journal is lost.
 */
export const killClient: Scenario = {
  id: 'F05b',
  name: 'kill -9 of a client in the middle of its calls',
  run: (context) =>
    inWorld(context, { clients: 1, timeoutMs: 6_000 }, async (world) => {
      const { random } = context;
      const { client } = world;
      const rounds = context.rounds({ full: 100, short: 4 });
      const kills = { client_kills: rounds, journals_lost: 0, server_away: 0 };
      await world.startServer();
      world.startClient(client);
      world.startLoad();
      for (let round = 0; round < rounds; round += 1) {
        await world.untilAccepted(random.between(8, 20));
        await sleep(random.between(0, 60));
        const isAway = round % 3 === 0;
        const isLost = round % 3 === 1 && random.chance(0.5);
        if (isAway) {
          kills.server_away += 1;
          await world.server.end('SIGKILL');
          // The client lives on for a moment, and finishes calls whose answers it cannot send.
          await sleep(random.between(20, 120));
        }
        await client.kill();
        if (isLost) {
          kills.journals_lost += 1;
          client.loseJournal();
        }
        if (isAway) await world.startServer();
        world.startClient(client);
      }
      const { figures } = await world.rest();
      return {
        figures: { ...figures, ...kills },
        summary: `${rounds} × kill -9 of a client (${kills.server_away} with the server away, ${kills.journals_lost} journals lost): ${figures.accepted} accepted, ${figures.succeeded} succeeded, ${figures.outcome_unknown} outcome unknown, ${context.violations.length} violations`,
      };
    }),
};
