import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario, TortureContext } from '../scenario.ts';
import { beginCall, endsUnknown, works } from '../world/begun-call.ts';
import { inShimmedWorld, type ShimmedWorld } from '../world/shimmed-world.ts';

/** The power of the only client is cut in the middle of its calls: what its journal had synced counts. */
export const clientPowerLoss: Scenario = {
  id: 'F03b',
  name: 'power loss of a client in the middle of its calls',
  run: (context) =>
    inShimmedWorld(
      context,
      { keepsLog: true, withClients: true, clients: 1, timeoutMs: 6_000 },
      async (shimmed) => {
        const { world, clientDisks } = shimmed;
        const { random } = context;
        const rounds = context.rounds({ full: 100, short: 2 });
        let [unsynced, lost] = [0, 0];
        world.startClients();
        await world.startServer();
        await cutInMidRun(shimmed, context);
        world.startLoad();
        for (let round = 0; round < rounds; round += 1) {
          await world.untilAccepted(random.between(10, 20));
          await works(world);
          await sleep(random.between(0, 60));
          await world.client.kill();
          const cut = clientDisks[0]?.cutPower(random, { garbage: round % 2 === 1 });
          unsynced += cut?.unsynced ?? 0;
          lost += cut?.lost ?? 0;
          world.startClients();
        }
        const { figures } = await world.rest();
        const changes = { unsynced_changes: unsynced, unsynced_changes_lost: lost };
        return {
          figures: { ...figures, power_cuts: rounds, ...changes },
          summary: `${rounds} × power loss of a client (${lost} of ${unsynced} changes that were not synced destroyed): ${figures.accepted} accepted, ${figures.succeeded} succeeded, ${figures.outcome_unknown} outcome unknown, ${context.violations.length} violations`,
        };
      },
    ),
};

/** All that was not synced since the call began is lost, and nothing else. */
async function cutInMidRun(
  { world, clientDisks: [disk] }: ShimmedWorld,
  { random }: TortureContext,
): Promise<void> {
  await works(world);
  if (!disk) throw new Error('the client has no disk');
  const losesSince = disk.events();
  const call = await beginCall(world, world.client);
  await world.client.kill();
  disk.cutPower(random, { garbage: false, losesSince });
  world.startClients();
  return endsUnknown(world, call, 'lost its power');
}
