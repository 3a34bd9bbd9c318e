import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario, TortureContext } from '../scenario.ts';
import { inShimmedWorld, type ShimmedWorld } from '../world/shimmed-world.ts';
import { checkEarlierCut } from './check-earlier-cut.ts';

/** The power of the server is cut under load, in a part of the rounds that of a client, too. */
export const powerLoss: Scenario = {
  id: 'F03',
  name: 'power loss: what was not fsynced is gone, torn or garbage',
  inShort: true,
  run: (context) =>
    inShimmedWorld(
      context,
      { keepsLog: true, withClients: true, troubles: true },
      async (shimmed) => {
        const { world } = shimmed;
        const rounds = context.rounds({ full: 100, short: 3 });
        const done = { unsynced: 0, lost: 0, clients: 0, garbage: 0, looks: 0, torn: 0 };
        const dir = await context.tempDir();
        world.startClients();
        await loseUnsynced(shimmed, context);
        world.startLoad();
        for (let round = 0; round < rounds; round += 1) {
          const garbage = round % 2 === 1;
          await startAgain(shimmed);
          done.torn += world.server.log().includes('never acknowledged') ? 1 : 0;
          await someWork(context, shimmed, round);
          done.clients += await cutClient(context, shimmed, garbage);
          await world.server.end('SIGKILL');
          for (let look = 0; look < (context.isShort ? 6 : 40); look += 1) {
            const at = { dir: join(dir, 'look'), name: `round ${round}, look ${look}` };
            const moment = context.random.pick(['any', 'early', 'log begins'] as const);
            const earlier = shimmed.serverDisk.lookBack(context.random, { garbage, moment });
            checkEarlierCut(earlier, at, context.bad);
            done.looks += 1;
          }
          const cut = shimmed.serverDisk.cutPower(context.random, { garbage });
          done.unsynced += cut.unsynced;
          done.lost += cut.lost;
          done.garbage += garbage ? 1 : 0;
          if (round % 20 === 19) context.say(`${round + 1} of ${rounds}`);
        }
        await startAgain(shimmed);
        const { figures } = await world.rest();
        const { violations } = context;
        const broken = violations.filter(({ invariant }) => /^I[12]$/.test(invariant));
        return {
          figures: {
            ...figures,
            power_cuts: rounds,
            power_cuts_of_clients: done.clients,
            power_cuts_looked_back_at: done.looks,
            with_garbage: done.garbage,
            unsynced_changes: done.unsynced,
            unsynced_changes_lost: done.lost,
            torn_ends_told: done.torn,
          },
          summary: `${rounds} × power loss (+ ${done.clients} of a client, ${done.looks} on paper; ${done.lost} of ${done.unsynced} changes that were not synced destroyed): ${figures.accepted} accepted, ${figures.acknowledged} acknowledged, ${broken.length} lost or changed, ${violations.length} violations; ${figures.outcome_unknown} outcome unknown`,
        };
      },
    ),
};

/** Calls are accepted, and all that was not synced since before them is lost, and nothing else. */
async function loseUnsynced(shimmed: ShimmedWorld, { random }: TortureContext): Promise<void> {
  const { world, serverDisk } = shimmed;
  const accept = (key: string) =>
    world.api.invoke('calculation.eval', { key, args: { expression: '6*7' } });
  await world.startServer();
  await accept('before');
  const losesSince = serverDisk.events();
  const ids = [await accept('after-1'), await accept('after-2')];
  await world.server.end('SIGKILL');
  serverDisk.cutPower(random, { garbage: false, losesSince });
  await startAgain(shimmed);
  const records = await world.api.records();
  await world.server.end('SIGKILL');
  const gone = ids.filter((id) => !records.has(id));
  if (gone.length > 0)
    world.bad('I1', `${gone.join(', ')}: accepted, and gone with what was not synced`);
}

/** A store that is refused after a power cut is a violation; salvaged, so that the rest is seen, too. */
async function startAgain({ world }: ShimmedWorld): Promise<void> {
  if ((await world.startServer()) !== undefined) return;
  const { code } = await world.server.ended;
  const detail = `after a power cut it ended with ${code}: ${world.server.log().slice(-600)}`;
  world.bad('HEALTH', detail);
  await world.startServer(['--salvage']);
}

/** Mostly under load; in a part of the rounds the cut comes while the server has hardly started. */
async function someWork(
  { random }: TortureContext,
  { world }: ShimmedWorld,
  round: number,
): Promise<void> {
  if (round % 5 === 4) return sleep(random.between(0, 40));
  await world.untilAccepted(random.between(10, 30));
  if (random.chance(0.2)) void world.startRun();
  await sleep(random.between(20, 150));
}

/** The server lives meanwhile in a half of them. */
async function cutClient(
  { random }: TortureContext,
  { world, clientDisks }: ShimmedWorld,
  garbage: boolean,
): Promise<number> {
  if (random.chance(0.4)) return 0;
  const at = random.between(0, clientDisks.length - 1);
  const [client, disk] = [world.clients[at], clientDisks[at]];
  if (!client || !disk) return 0;
  const isAway = random.chance(0.5);
  if (isAway) await world.server.end('SIGKILL');
  await sleep(random.between(0, 40));
  await client.kill();
  disk.cutPower(random, { garbage });
  world.startClient(client);
  if (!isAway) await sleep(random.between(50, 200));
  return 1;
}
