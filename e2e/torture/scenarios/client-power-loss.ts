import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';
import { askCall, callEnd } from '../world/ask-call.ts';
import { inShimmedWorld } from '../world/shimmed-world.ts';
import type { World } from '../world/world.ts';

const TIMEOUT_MS = 6_000;

/** The power of the only client is cut in the middle of its calls: what its journal had synced counts. */
export const clientPowerLoss: Scenario = {
  id: 'F03b',
  name: 'power loss of a client in the middle of its calls',
  run: (context) =>
    inShimmedWorld(
      context,
      { keepsLog: true, withClients: true, clients: 1, timeoutMs: TIMEOUT_MS },
      async ({ world, clientDisks }) => {
        const { random } = context;
        const rounds = context.rounds({ full: 100, short: 2 });
        const [[client], [disk]] = [world.clients, clientDisks];
        if (!client || !disk) throw new Error('a world of one client has none');
        let [unsynced, lost] = [0, 0];
        world.startClient(client);
        await world.startServer();
        world.startLoad();
        for (let round = 0; round < rounds; round += 1) {
          await world.untilAccepted(random.between(10, 20));
          await works(world);
          await sleep(random.between(0, 60));
          await client.kill();
          const cut = disk.cutPower(random, { garbage: round % 2 === 1 });
          unsynced += cut.unsynced;
          lost += cut.lost;
          world.startClient(client);
        }
        const { figures, violations } = await world.rest();
        return {
          violations,
          figures: {
            ...figures,
            power_cuts: rounds,
            unsynced_changes: unsynced,
            unsynced_changes_lost: lost,
          },
          summary: `${rounds} × power loss of a client (${lost} of ${unsynced} changes that were not synced destroyed): ${figures.accepted} accepted, ${figures.succeeded} succeeded, ${figures.outcome_unknown} outcome unknown, ${violations.length} violations`,
        };
      },
    ),
};

/** An undisturbed call of each tool. After three leavings in a row the breaker would rest it for half a minute. */
async function works(world: World): Promise<void> {
  for (const tool of ['effect', 'effect_slow', 'read', 'big']) {
    await callEnd(world, await askCall(world, tool, { timeoutMs: TIMEOUT_MS }), TIMEOUT_MS);
  }
}
