import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome, Scenario, Violation } from '../scenario.ts';
import { inShimmedWorld, type ShimmedWorld } from '../world/shimmed-world.ts';
import { awaitEnd } from './await-end.ts';

const STORE_FAILED = 74;
/** It looks after one, two, four seconds whether there is room again. */
const NOTICES_WITHIN_MS = 60_000;
/** Load fills what room was left within this time. */
const FILLS_WITHIN_MS = 60_000;

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
      const violations: Violation[] = [];
      let ended = 0;
      for (const client of world.clients) world.startClient(client);
      world.startLoad();
      for (let round = 0; round < rounds; round += 1) {
        if ((await world.startServer()) === undefined) return stopped(shimmed, violations);
        await world.untilAccepted(5);
        violations.push(...(await fillUp(shimmed, random.between(0, 200_000))));
        await sleep(random.between(0, 300));
        violations.push(...(await readsWhileFull(shimmed)));
        shimmed.serverDisk.control.heal();
        // Some supervisors wait for the end, others make it.
        if (random.chance(0.5)) await world.server.kill();
        else {
          const exit = await awaitEnd(world.server, NOTICES_WITHIN_MS);
          if (exit?.code === STORE_FAILED) ended += 1;
          else violations.push(bad(`with room again it ended with ${exit?.code ?? 'nothing'}`));
          await world.server.kill();
        }
      }
      await world.startServer();
      const { figures, violations: found } = await world.rest();
      return {
        figures: { ...figures, disk_full: rounds, ended_by_itself: ended },
        violations: [...violations, ...found],
        summary: `${rounds} × disk full under load, short write first: ${figures.accepted} accepted, ${found.length} violations; ended with ${STORE_FAILED} by itself ${ended} times`,
      };
    }),
};

const bad = (detail: string): Violation => ({ invariant: 'HEALTH', detail });

async function stopped({ world }: ShimmedWorld, violations: Violation[]): Promise<Outcome> {
  const rest = await world.rest();
  return { ...rest, violations: [...violations, ...rest.violations], summary: 'it did not start' };
}

/** Until a write has failed. */
async function fillUp({ world, serverDisk }: ShimmedWorld, room: number): Promise<Violation[]> {
  const { control } = serverDisk;
  const before = control.failed;
  control.setRoom(room);
  const giveUpAt = performance.now() + FILLS_WITHIN_MS;
  while (control.failed === before) {
    if (performance.now() > giveUpAt) return [bad(`${room} bytes were not filled by the load`)];
    if (!world.server.isAlive)
      return [bad(`it ended while the disk filled: ${world.server.log()}`)];
    await sleep(5);
  }
  // The call whose write failed may be the last one that is answered.
  await sleep(30);
  return [];
}

async function readsWhileFull({ world }: ShimmedWorld): Promise<Violation[]> {
  if (!world.server.isAlive)
    return [bad(`it ended while the disk was full: ${world.server.log()}`)];
  const invoked = await world.api.ask('POST', '/v1/tools/calculation.eval/invoke', {
    body: { run_id: 'run_full', args: { expression: '1+1' } },
  });
  const [some] = world.witness.calls.keys();
  const read = await world.api.ask('GET', `/v1/tool_calls/${some}`);
  return [
    ...(invoked?.status === 503
      ? []
      : [bad(`a full disk: invoke gave ${JSON.stringify(invoked)}`)]),
    ...(read?.status === 200 ? [] : [bad(`a full disk: reading gave ${JSON.stringify(read)}`)]),
  ];
}
