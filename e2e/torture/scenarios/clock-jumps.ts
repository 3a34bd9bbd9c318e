import { setTimeout as sleep } from 'node:timers/promises';
import { callRecordSchema, type WireCallRecord } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { gives } from '../patch.ts';
import type { Scenario, Violation } from '../scenario.ts';
import { inShimmedWorld, type ShimmedWorld } from '../world/shimmed-world.ts';
import { until } from '../world/until.ts';
import type { World } from '../world/world.ts';

const HOUR_MS = 3_600_000;
/** The wall clock is set by this much; the last one to 1970. */
const JUMPS: readonly { readonly name: string; ms(): number }[] = [
  { name: '+1 h', ms: () => HOUR_MS },
  { name: '-1 h', ms: () => -HOUR_MS },
  { name: '+10 years', ms: () => 3_652 * 24 * HOUR_MS },
  { name: '1970', ms: () => 86_400_000 - Date.now() },
];

const TIMEOUT_MS = 2_500;
/** Too late by far, and not so long that its client, which runs eight at once, has no place left. */
const TOO_LONG_MS = 4 * TIMEOUT_MS;
/** The server looks at the wall clock once a second. */
const SEEN_MS = 60_000;
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
        const violations: Violation[] = [];
        for (const client of world.clients) world.startClient(client);
        await world.startServer();
        let worst = 0;
        for (let round = 0; round < rounds; round += 1) {
          for (const jump of jumps) {
            const off = await jumpWhileOpen(shimmed, jump.ms(), jump.name);
            violations.push(...off.violations);
            worst = Math.max(worst, off.worst);
          }
          const nth = (index: number) => JUMPS[index % JUMPS.length] ?? context.random.pick(JUMPS);
          const [away, before] = [nth(3 * round), nth(3 * round + 1)];
          violations.push(...(await killedAfterJump(shimmed, before.ms(), before.name)));
          violations.push(...(await jumpWhileAway(shimmed, away.ms(), away.name)));
        }
        serverDisk.control.moveClock(0);
        const { figures, violations: found } = await world.rest();
        const count = rounds * (jumps.length + 2);
        return {
          figures: { ...figures, jumps: count, off_ms_max: Math.round(worst) },
          violations: [...violations, ...found],
          summary: `${count} jumps of the clock (${jumps.map(({ name }) => name).join(', ')}): no call ended more than ${Math.round(worst)} ms early or late`,
        };
      },
    ),
};

const bad = (detail: string): Violation => ({ invariant: 'I4', detail });

/** One call that never answers, and one that answers in time; the clock jumps in the middle. */
async function jumpWhileOpen(
  { world, serverDisk }: ShimmedWorld,
  jumpMs: number,
  name: string,
): Promise<{ violations: Violation[]; worst: number }> {
  const startedAt = performance.now();
  const never = await ask(world, TOO_LONG_MS, TIMEOUT_MS);
  const soon = await ask(world, 1_200, ENOUGH_MS);
  await sleep(500);
  serverDisk.control.moveClock(jumpMs);
  const [timedOut, succeeded] = await Promise.all([
    untilFinal(world, never),
    untilFinal(world, soon),
  ]);
  const violations: Violation[] = [];
  const off = timedOut.at - startedAt - TIMEOUT_MS;
  if (timedOut.call?.status !== 'TIMEOUT' || off < -1_000 || off > SLACK_MS) {
    const what = timedOut.call?.status ?? 'did not end';
    violations.push(bad(`${name}: a call of ${TIMEOUT_MS} ms ${what} ${Math.round(off)} ms off`));
  }
  if (succeeded.call?.status !== 'SUCCEEDED') {
    const what = JSON.stringify(succeeded.call?.error ?? 'no end');
    violations.push(bad(`${name}: a call that was answered in time ended otherwise: ${what}`));
  }
  serverDisk.control.moveClock(0);
  return { violations, worst: Math.abs(off) };
}

/** The server is killed, its clock is set, it starts again: the answer comes, and counts. */
async function jumpWhileAway(
  { world, serverDisk }: ShimmedWorld,
  jumpMs: number,
  name: string,
): Promise<Violation[]> {
  const soon = await ask(world, 3_000, ENOUGH_MS);
  await sleep(300);
  await world.server.kill();
  serverDisk.control.moveClock(jumpMs);
  await world.startServer();
  const { call } = await untilFinal(world, soon);
  if (call?.status === 'SUCCEEDED') return [];
  const what = JSON.stringify(call?.error ?? 'no end');
  return [
    bad(`${name} while it was away: a call that was answered in time ended otherwise: ${what}`),
  ];
}

/** A server that has just started sees that its clock was set, is killed, and starts again by that clock. */
async function killedAfterJump(
  { world, serverDisk }: ShimmedWorld,
  jumpMs: number,
  name: string,
): Promise<Violation[]> {
  await world.server.kill();
  await world.startServer();
  serverDisk.control.moveClock(jumpMs);
  await until('the server goes by the new time', SEEN_MS, async () => {
    const { call } = await untilFinal(world, await ask(world, 0, ENOUGH_MS));
    return call && Math.abs(call.created_at * 1_000 - (Date.now() + jumpMs)) < ENOUGH_MS;
  });
  const soon = await ask(world, 3_000, ENOUGH_MS);
  await sleep(300);
  await world.server.kill();
  await world.startServer();
  const { call } = await untilFinal(world, soon);
  serverDisk.control.moveClock(0);
  if (call?.status === 'SUCCEEDED') return [];
  const what = JSON.stringify(call?.error ?? 'no end');
  return [
    bad(`${name}, killed after it: a call that was answered in time ended otherwise: ${what}`),
  ];
}

async function ask(world: World, ms: number, timeoutMs: number): Promise<string> {
  const nonce = `clock-${ms}-${performance.now()}`;
  for (;;) {
    const answer = await world.api.ask('POST', '/v1/tools/effect_slow/invoke', {
      body: { run_id: 'run_clock', args: { nonce, ms }, timeout_ms: timeoutMs },
    });
    if (answer?.status === 202) {
      const id = (answer.body as { tool_call_id: string }).tool_call_id;
      world.witness.accepted(id, { key: nonce, tool: 'effect_slow', nonce });
      return id;
    }
    // The client is on its way back.
    if (!world.server.isAlive) throw new Error(`the server ended: ${world.server.log()}`);
    await sleep(20);
  }
}

async function untilFinal(
  world: World,
  id: string,
): Promise<{ call: WireCallRecord | undefined; at: number }> {
  const giveUpAt = performance.now() + ENOUGH_MS + ABSENCE_MS;
  while (performance.now() < giveUpAt) {
    const answer = await world.api.ask('GET', `/v1/tool_calls/${id}?wait_ms=500`);
    const call = answer?.status === 200 ? callRecordSchema.parse(answer.body) : undefined;
    if (call && isFinalStatus(call.status)) return { call, at: performance.now() };
    await sleep(10);
  }
  return { call: undefined, at: performance.now() };
}
