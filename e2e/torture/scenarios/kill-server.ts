import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';
import type { ClientProcess } from '../world/client-process.ts';
import { inWorld } from '../world/world.ts';

/** `kill -9` of the server at a random moment under load; in a part of the rounds of a client, too. */
export const killServer: Scenario = {
  id: 'F01',
  name: 'kill -9 of the server, and of clients, at random moments under load',
  run: (context) =>
    inWorld(context, { troubles: true }, async (world) => {
      const { random } = context;
      const rounds = context.rounds({ full: 200, short: 4 });
      let [clientKills, journalsLost] = [0, 0];
      world.startClients();
      world.startLoad();
      for (let round = 0; round < rounds; round += 1) {
        await world.startServer();
        await world.untilAccepted(random.between(8, 24));
        if (random.chance(0.3)) void world.startRun();
        await sleep(random.between(20, 200));
        const client = random.chance(0.3) ? random.pick(world.clients) : undefined;
        await Promise.all([
          world.server.end('SIGKILL'),
          client && killSoon(client, random.between(0, 120)),
        ]);
        if (client) {
          clientKills += 1;
          if (random.chance(0.2)) {
            journalsLost += 1;
            client.loseJournal();
          }
          world.startClient(client);
        }
        if (round % 20 === 19) context.say(`${round + 1} of ${rounds}`);
      }
      await world.startServer();
      const { figures } = await world.rest();
      const kills = { server_kills: rounds, client_kills: clientKills };
      return {
        figures: { ...figures, ...kills, journals_lost: journalsLost },
        summary: `${rounds} × kill -9 (+ ${clientKills} of a client, ${journalsLost} journals lost): ${figures.accepted} accepted, ${figures.acknowledged} acknowledged, ${context.violations.length} violations; ${figures.outcome_unknown} outcome unknown; restart at most ${figures.restart_ms_max} ms`,
      };
    }),
};

/** A client that outlives the server for a moment finishes calls whose answers it cannot send. */
async function killSoon(client: ClientProcess, ms: number): Promise<void> {
  await sleep(ms);
  await client.kill();
}
