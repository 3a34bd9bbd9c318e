import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario, TortureContext, Violation } from '../scenario.ts';
import { beginCall, endsUnknown, works } from '../world/begun-call.ts';
import { inShimmedWorld, type ShimmedWorld } from '../world/shimmed-world.ts';

const TIMEOUT_MS = 6_000;

/** The power of the only client is cut in the middle of its calls: what its journal had synced counts. */
export const clientPowerLoss: Scenario = {
  id: 'F03b',
  name: 'power loss of a client in the middle of its calls',
  run: (context) =>
    inShimmedWorld(
      context,
      { keepsLog: true, withClients: true, clients: 1, timeoutMs: TIMEOUT_MS },
      async (shimmed) => {
        const { world, clientDisks } = shimmed;
        const { random } = context;
        const rounds = context.rounds({ full: 100, short: 2 });
        const [[client], [disk]] = [world.clients, clientDisks];
        if (!client || !disk) throw new Error('a world of one client has none');
        let [unsynced, lost] = [0, 0];
        world.startClient(client);
        await world.startServer();
        const violations = await cutInMidRun(shimmed, context);
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
        const { figures, violations: found } = await world.rest();
        return {
          violations: [...violations, ...found],
          figures: {
            ...figures,
            power_cuts: rounds,
            unsynced_changes: unsynced,
            unsynced_changes_lost: lost,
          },
          summary: `${rounds} × power loss of a client (${lost} of ${unsynced} changes that were not synced destroyed): ${figures.accepted} accepted, ${figures.succeeded} succeeded, ${figures.outcome_unknown} outcome unknown, ${violations.length + found.length} violations`,
        };
      },
    ),
};

/** All that was not synced since the call began is lost, and nothing else. */
async function cutInMidRun(
  { world, clientDisks: [disk] }: ShimmedWorld,
  { random, tempDir }: TortureContext,
): Promise<Violation[]> {
  const [client] = world.clients;
  if (!client || !disk) throw new Error('a world of one client has none');
  await works(world);
  const losesSince = disk.events();
  const call = await beginCall(world, client, await tempDir());
  await client.kill();
  disk.cutPower(random, { garbage: false, losesSince });
  world.startClient(client);
  return endsUnknown(world, call, 'lost its power');
}
