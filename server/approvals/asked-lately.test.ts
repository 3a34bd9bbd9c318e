import { expect, test } from 'vitest';
import type { Agent, Principal } from '../auth/principal.ts';
import { operator, type SetupOptions, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import { MOST_KEPT } from './asked-lately.ts';

const asks = () => ({ verdict: 'ask', reason: 'it has effects' }) as const;
const run: Principal = { kind: 'run', runId: 'run_1', owner: operator };
const bot: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['fx'] };
const HOUR_MS = 3_600_000;

async function setup(options: SetupOptions = {}) {
  const one = await setupCalls({ check: asks, ...options });
  one.connect('phone').offer(tool('fx'));
  const ask = (n: number, more: object = {}) =>
    one.invoke('fx', { n }, { principal: run, ...more });
  /** Asked, and answered with no: the error of each that was not asked. */
  const askInTurn = async (from: number, to: number, more: object = {}) => {
    const refused = [];
    for (let n = from; n < to; n += 1) {
      const call = await ask(n, more);
      if (call.phase === 'approval') await one.calls.decide(call.id, operator, { decision: 'no' });
      else refused.push(call.error);
    }
    return refused;
  };
  return { ...one, ask, askInTurn };
}

test('[CA46] T80: of 40 questions that people answer at once, a run asks 30 within an hour', async () => {
  const one = await setup();
  const refused = await one.askInTurn(0, 40);
  expect(refused).toHaveLength(10);
  expect(refused[0]).toMatchObject({ code: 'denied', executed: 'no', reason: 'approval_rate' });
  expect(refused[0]?.message).toMatch(/30 questions.*60 min.*not run/s);
  expect((await one.ask(1, { runId: 'run_2', principal: operator })).phase).toBe('approval');
});

test('[CA46] an hour after a question another one may be asked', async () => {
  const one = await setup();
  await one.askInTurn(0, 15);
  one.clock.advance(HOUR_MS / 2);
  await one.askInTurn(15, 30);
  one.clock.advance(HOUR_MS / 2 - 1);
  expect(await one.askInTurn(30, 31)).toMatchObject([{ reason: 'approval_rate' }]);
  one.clock.advance(1);
  expect(await one.askInTurn(31, 47)).toHaveLength(1);
});

test('[CA46] it holds over a restart, and a clock that was set back does not make it longer', async () => {
  const before = await setup();
  await before.askInTurn(0, 30);
  await before.settle();
  await before.close();
  const after = await setup({ dir: before.dir });
  after.clock.setWall(-10 * HOUR_MS);
  await after.calls.recover();
  expect(await after.askInTurn(30, 31)).toMatchObject([{ reason: 'approval_rate' }]);
  after.clock.advance(HOUR_MS);
  expect(await after.askInTurn(31, 32)).toEqual([]);
});

test('[CA46] a question that waits over a restart is counted once, and what is equal to it not at all', async () => {
  const before = await setup();
  await before.askInTurn(0, 28);
  await before.ask(100);
  await before.ask(100);
  await before.settle();
  await before.close();
  const after = await setup({ dir: before.dir });
  await after.calls.recover();
  expect((await after.ask(100)).phase).toBe('approval');
  expect(await after.askInTurn(28, 30)).toHaveLength(1);
});

test('[CA46] an agent has 30 over all its runs, and a run has them with its sub-agents', async () => {
  const one = await setup({ rootOf: (runId) => (runId === 'run_child' ? 'run_1' : runId) });
  for (let n = 0; n < 30; n += 1)
    await one.askInTurn(n, n + 1, { principal: bot, runId: `b_${n}` });
  expect(await one.askInTurn(30, 31, { principal: bot, runId: 'b_30' })).toMatchObject([
    { reason: 'approval_rate' },
  ]);
  await one.askInTurn(0, 29);
  const child = { principal: { ...run, runId: 'run_child' }, runId: 'run_child' };
  expect(await one.askInTurn(0, 2, child)).toHaveLength(1);
});

test('[CA46] what is kept of runs is forgotten after an hour, and never more than so much', async () => {
  const one = await setup();
  const value = { at: [one.clock.now()] };
  await one.store.write(
    Array.from({ length: MOST_KEPT + 5 }, (_, n) => ({
      type: 'put_kept' as const,
      entry: { area: 'asked' as const, key: `run:r${n}`, value, putAt: one.clock.now() },
    })),
  );
  await one.calls.recover();
  await one.ask(1);
  await one.settle();
  expect((await one.store.listKept('asked')).length).toBe(MOST_KEPT);
  one.clock.advance(HOUR_MS);
  await one.ask(2);
  await one.settle();
  expect((await one.store.listKept('asked')).map(({ key }) => key)).toEqual(['run:run_1']);
});
