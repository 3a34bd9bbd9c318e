import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';
import { awaitEnd } from '../world/server-process.ts';
import { inShimmedWorld, type ShimmedWorld } from '../world/shimmed-world.ts';
import { PATIENCE_MS, until } from '../world/until.ts';

const STORE_FAILED = 74;

/**
 * The disk has room for some more bytes, then for none, then again for plenty.
 * What was accepted stays; while it is full nothing is accepted, and what is on
 * record can be read; then the server ends with 74, for its supervisor.
 */
export const diskFull: Scenario = {
  id: 'F06',
  name: 'the disk is full, and free again',
  run: (context) =>
    inShimmedWorld(context, { keepsLog: false, withClients: false }, async (shimmed) => {
      const { world } = shimmed;
      const { random } = context;
      const rounds = context.rounds({ full: 20, short: 1 });
      let ended = 0;
      world.startClients();
      world.startLoad();
      for (let round = 0; round < rounds; round += 1) {
        if ((await world.startServer()) === undefined)
          return { ...(await world.rest()), summary: 'it did not start' };
        await world.untilAccepted(5);
        await fillUp(shimmed, random.between(0, 200_000));
        await sleep(random.between(0, 300));
        await readWhileFull(shimmed);
        shimmed.serverDisk.control.heal();
        // Some supervisors wait for the end, others make it.
        if (random.chance(0.5)) {
          // It looks after one, two, four seconds whether there is room again.
          const exit = await awaitEnd(world.server, PATIENCE_MS);
          if (exit?.code === STORE_FAILED) ended += 1;
          else world.bad('HEALTH', `with room again it ended with ${exit?.code ?? 'nothing'}`);
        }
        await world.server.end('SIGKILL');
      }
      await world.startServer();
      const { figures } = await world.rest();
      return {
        figures: { ...figures, disk_full: rounds, ended_by_itself: ended },
        summary: `${rounds} × disk full under load, short write first: ${figures.accepted} accepted, ${context.violations.length} violations; ended with ${STORE_FAILED} by itself ${ended} times`,
      };
    }),
};

/** Until a write has failed. */
async function fillUp({ world, serverDisk }: ShimmedWorld, room: number): Promise<void> {
  const { control } = serverDisk;
  const before = control.failed;
  control.setRoom(room);
  await until(() => control.failed !== before || !world.server.isAlive);
  if (!world.server.isAlive)
    world.bad('HEALTH', `it ended while the disk filled: ${world.server.log()}`);
  else if (control.failed === before)
    world.bad('HEALTH', `${room} bytes were not filled by the load`);
  // The call whose write failed may be the last one that is answered.
  await sleep(30);
}

async function readWhileFull({ world }: ShimmedWorld): Promise<void> {
  const { api, bad, server, witness } = world;
  if (!server.isAlive) return bad('HEALTH', `it ended while the disk was full: ${server.log()}`);
  const invoked = await api.ask('POST', '/v1/tools/calculation.eval/invoke', {
    body: { run_id: 'run_full', args: { expression: '1+1' } },
  });
  const [some] = witness.calls.keys();
  const read = await api.ask('GET', `/v1/tool_calls/${some}`);
  if (invoked?.status !== 503)
    bad('HEALTH', `a full disk: invoke gave ${invoked?.status} ${invoked?.text}`);
  if (read?.status !== 200)
    bad('HEALTH', `a full disk: reading gave ${read?.status} ${read?.text}`);
}
