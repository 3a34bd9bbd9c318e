import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';
import type { ClientProcess } from '../world/client-process.ts';
import { createWorld, type World } from '../world/world.ts';

/**
 * The only client is killed in the middle of its calls and started again: what
 * it had finished counts, what it had begun is unknown, the rest is run. In a
 * part of the rounds the server is away meanwhile, so that answers wait in the
 * outbox, or the journal is lost.
 */
export const killClient: Scenario = {
  id: 'F05b',
  name: 'kill -9 of a client in the middle of its calls',
  async run(context) {
    const { build, random } = context;
    const dir = await context.tempDir();
    const options = { build, dir, random, clients: 1, timeoutMs: 6_000 };
    const world = await createWorld(options);
    const rounds = context.rounds({ full: 100, short: 4 });
    const figures = { client_kills: 0, journals_lost: 0, server_away: 0 };
    try {
      await world.startServer();
      const [client] = world.clients;
      if (!client) throw new Error('a world of one client has none');
      world.startClient(client);
      world.startLoad();
      for (let round = 0; round < rounds; round += 1) {
        await world.untilAccepted(random.between(8, 20));
        await sleep(random.between(0, 60));
        const isAway = round % 3 === 0;
        figures.server_away += isAway ? 1 : 0;
        figures.client_kills += 1;
        const isLost = round % 3 === 1 && random.chance(0.5);
        figures.journals_lost += isLost ? 1 : 0;
        if (isAway) await killBoth(world, client, random.between(20, 120));
        else await client.kill();
        if (isLost) client.loseJournal();
        if (isAway) await world.startServer();
        world.startClient(client);
      }
      const { figures: seen, violations } = await world.rest();
      return {
        figures: { ...seen, ...figures },
        violations,
        summary: `${rounds} × kill -9 of a client (${figures.server_away} with the server away, ${figures.journals_lost} journals lost): ${seen.accepted} accepted, ${seen.succeeded} succeeded, ${seen.outcome_unknown} outcome unknown, ${violations.length} violations`,
      };
    } finally {
      await world.end();
    }
  },
};

/** The client lives on for a moment, and finishes calls whose answers it cannot send. */
async function killBoth(world: World, client: ClientProcess, ms: number): Promise<void> {
  await world.server.kill();
  await sleep(ms);
  await client.kill();
}
