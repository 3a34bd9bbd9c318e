import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { gives } from '../patch.ts';
import type { Scenario } from '../scenario.ts';
import { inShimmedWorld, type ShimmedWorld } from '../world/shimmed-world.ts';
import { must } from '../world/until.ts';
import type { World } from '../world/world.ts';

const HOUR_MS = 3_600_000;
interface Jump {
  readonly name: string;
  /** The wall clock is set by this much. */
  ms(): number;
}

const JUMPS: readonly Jump[] = [
  { name: '+1 h', ms: () => HOUR_MS },
  { name: '-1 h', ms: () => -HOUR_MS },
  { name: '+10 years', ms: () => 3_652 * 24 * HOUR_MS },
  { name: '1970', ms: () => 86_400_000 - Date.now() },
];

const TIMEOUT_MS = 2_500;
/** Too late by far, and not so long that its client, which runs eight at once, has no place left. */
const TOO_LONG_MS = 4 * TIMEOUT_MS;
/** A busy machine adds this. */
const SLACK_MS = 10_000;
/** So much of the time without a server may count (CK4), and its mark may be so old. */
const ABSENCE_MS = 10_000;
/** The clock of a call that is answered in time, on any machine; an hour is more than that, too. */
const ENOUGH_MS = 120_000;

/** The mark of the life of a server is made at its start, and not by chance after its clock was set. */
const MARKED_ONCE = gives('alive-mark-interval', '3_600_000');

/** The server's wall clock is set while calls are open, and while it is away. */
export const clockJumps: Scenario = {
  id: 'F18',
  name: "the server's clock jumps while calls are open, and over a restart",
  patches: () => [MARKED_ONCE],
  run: (context) =>
    inShimmedWorld(
      context,
      { keepsLog: false, withClients: false, clients: 1 },
      async (shimmed) => {
        const { world, serverDisk } = shimmed;
        const rounds = context.rounds({ full: 10, short: 1 });
        const jumps = context.isShort ? JUMPS.slice(0, 2) : JUMPS;
        world.startClients();
        await world.startServer();
        let worst = 0;
        for (let round = 0; round < rounds; round += 1) {
          for (const jump of jumps) worst = Math.max(worst, await jumpWhileOpen(shimmed, jump));
          const nth = (index: number) => JUMPS[index % JUMPS.length] ?? context.random.pick(JUMPS);
          await killedAfterJump(shimmed, nth(3 * round + 1));
          await jumpWhileAway(shimmed, nth(3 * round));
        }
        serverDisk.control.moveClock(0);
        const { figures } = await world.rest();
        const count = rounds * (jumps.length + 2);
        return {
          figures: { ...figures, jumps: count, off_ms_max: Math.round(worst) },
          summary: `${count} jumps of the clock (${jumps.map(({ name }) => name).join(', ')}): no call ended more than ${Math.round(worst)} ms early or late`,
        };
      },
    ),
};

/** One call that never answers, and one that answers in time; the clock jumps in the middle. */
async function jumpWhileOpen({ world, serverDisk }: ShimmedWorld, jump: Jump): Promise<number> {
  const startedAt = performance.now();
  const never = await ask(world, TOO_LONG_MS, TIMEOUT_MS);
  const soon = await ask(world, 1_200, ENOUGH_MS);
  await sleep(500);
  serverDisk.control.moveClock(jump.ms());
  const timesOut = async () => {
    const { status } = await untilFinal(world, never);
    return { status, off: performance.now() - startedAt - TIMEOUT_MS };
  };
  const [{ status, off }] = await Promise.all([timesOut(), succeeds(world, soon, jump.name)]);
  if (status !== 'TIMEOUT' || off < -1_000 || off > SLACK_MS) {
    const detail = `${jump.name}: a call of ${TIMEOUT_MS} ms is ${status} ${Math.round(off)} ms off`;
    world.bad('I4', detail);
  }
  serverDisk.control.moveClock(0);
  return Math.abs(off);
}

/** The server is killed, its clock is set, it starts again: the answer comes, and counts. */
async function jumpWhileAway({ world, serverDisk }: ShimmedWorld, jump: Jump): Promise<void> {
  const soon = await ask(world, 3_000, ENOUGH_MS);
  await sleep(300);
  await world.server.end('SIGKILL');
  serverDisk.control.moveClock(jump.ms());
  await world.startServer();
  await succeeds(world, soon, `${jump.name} while it was away`);
}

/** A server that has just started sees that its clock was set, is killed, and starts again by that clock. */
async function killedAfterJump({ world, serverDisk }: ShimmedWorld, jump: Jump): Promise<void> {
  const jumpMs = jump.ms();
  await world.server.end('SIGKILL');
  await world.startServer();
  serverDisk.control.moveClock(jumpMs);
  // It looks at the wall clock once a second.
  await must('the server goes by the new time', async () => {
    const { created_at } = await untilFinal(world, await ask(world, 0, ENOUGH_MS));
    return Math.abs(created_at * 1_000 - (Date.now() + jumpMs)) < ENOUGH_MS;
  });
  const soon = await ask(world, 3_000, ENOUGH_MS);
  await sleep(300);
  await world.server.end('SIGKILL');
  await world.startServer();
  await succeeds(world, soon, `${jump.name}, killed after it`);
  serverDisk.control.moveClock(0);
}

async function succeeds(world: World, id: string, when: string): Promise<void> {
  const { status, error } = await untilFinal(world, id);
  if (status === 'SUCCEEDED') return;
  const what = isFinalStatus(status) ? JSON.stringify(error) : 'no end';
  world.bad('I4', `${when}: a call that was answered in time ended otherwise: ${what}`);
}

async function ask({ api, server }: World, ms: number, timeoutMs: number): Promise<string> {
  const [key, asked] = [randomUUID(), { timeout_ms: timeoutMs, args: { ms } }];
  return must('the client is back', () => {
    if (!server.isAlive) throw new Error(`the server ended: ${server.log()}`);
    return api.tryInvoke('effect_slow', key, asked);
  });
}

const untilFinal = ({ api }: World, id: string) => api.end(id, ENOUGH_MS + ABSENCE_MS);
