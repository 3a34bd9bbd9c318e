import { expect, test } from 'vitest';
import type { Deadlines } from '#lib/call/call';
import type { Check } from '../../approvals/check.ts';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { systemClock } from '../agent/testing/fakes.ts';
import { delegate, helper, type Script, setupDelegation } from './testing/setup-delegation.ts';

const asksAboutEffects: Check = ({ toolName }) =>
  toolName === 'fx.effect' ? { verdict: 'ask', reason: 'It has effects' } : { verdict: 'allow' };

const effect = (of: string) => ({ name: 'fx_effect', args: { of } });

/** `boss` delegates to `helper`, that one to `scout`, which asks about two effects. */
const nested: Script = ({ model, index }) => {
  if (index > 0) return { text: 'Done.' };
  if (model === 'boss') return { calls: [delegate('helper')] };
  if (model === 'helper') return { calls: [delegate('scout')] };
  return { calls: [effect('a'), effect('b')] };
};

async function setup(more: Partial<Parameters<typeof setupDelegation>[0]> = {}) {
  const made = await setupDelegation({
    ...{ script: nested, check: asksAboutEffects, ...more },
    agents: { helper: { tools: ['delegate', 'fx.*'] }, scout: helper },
  });
  const runId = await made.start();
  const asked = async () =>
    (await made.callsOf('fx.effect')).filter(({ phase }) => phase === 'approval');
  await expect.poll(async () => (await asked()).length).toBe(2);
  const clocks = async () =>
    (await made.callsOf('delegate')).map(({ card }) => typeof card.clock?.deadline_at);
  return { ...made, runId, asked, clocks };
}

const STANDS = 'object';

test('[DE15] [CA61] the time of each call above stands while a sub-agent’s call waits for a person', async () => {
  const { asked, clocks, calls, ended, runId, effects, callsOf } = await setup();
  await expect.poll(clocks).toEqual([STANDS, STANDS]);
  const [outer] = await callsOf('delegate');
  expect(outer?.card.clock).toMatchObject({ name: 'execute', deadline_at: null });
  const { executeLeftMs = 0 }: Deadlines = outer?.deadlines ?? {};
  expect(executeLeftMs).toBeGreaterThan(100_000);
  const [first, second] = await asked();
  await calls.decide(first?.id ?? '', FIRST_OPERATOR, { decision: 'yes' });
  await expect.poll(async () => (await asked()).length).toBe(1);
  expect(await clocks()).toEqual([STANDS, STANDS]);
  const events = await calls.events(outer?.id ?? '', { after: 0, limit: 100 });
  expect(events.filter(({ type }) => type === 'below_waits')).toHaveLength(1);
  await calls.decide(second?.id ?? '', FIRST_OPERATOR, { decision: 'no' });
  expect((await ended(runId)).status).toBe('idle');
  expect(effects).toEqual(['a']);
  const both = await callsOf('delegate');
  expect(both.map(({ status }) => status)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
});

test('[DE8] what waits below a call that ends shows which call has ended, and why', async () => {
  const { callsOf, calls, ended, runId } = await setup();
  const [outer, inner] = await callsOf('delegate');
  await calls.cancel(outer?.id ?? '', 'No answer within 120 s', 'operator');
  await ended(runId);
  const why = async () => (await callsOf('fx.effect')).map(({ error }) => error?.message);
  await expect.poll(why).toEqual(new Array(2).fill(expect.stringContaining(`${inner?.id}`)));
  for (const words of await why()) {
    expect(words).toContain(
      `The sub-agent helper was stopped, because the call ${outer?.id} that it worked for ended: No answer within 120 s`,
    );
  }
});

test('[DE8] the calls below name who cancelled the call, or stopped the run, above them', async () => {
  const bys = async (made: Awaited<ReturnType<typeof setup>>) =>
    (await made.callsOf('fx.effect')).map(({ card }) => card.cancelled_by);
  const cancelled = await setup();
  const [outer] = await cancelled.callsOf('delegate');
  await cancelled.calls.cancel(outer?.id ?? '', 'Cancelled.', 'operator:olga', 'operator:olga');
  await cancelled.ended(cancelled.runId);
  await expect.poll(() => bys(cancelled)).toEqual(['operator:olga', 'operator:olga']);
  const [call] = await cancelled.callsOf('fx.effect');
  const events = await cancelled.calls.events(call?.id ?? '', { after: 0, limit: 100 });
  expect(events.find(({ type }) => type === 'cancelled')?.update).toMatchObject({
    cancelled_by: 'operator:olga',
  });
  const stopped = await setup();
  await stopped.runs.cancel(stopped.runId, 'operator:otto');
  await expect.poll(() => bys(stopped)).toEqual(['operator:otto', 'operator:otto']);
});

test('[DE16] the time of the budgets above stands while calls below wait for a person', async () => {
  let later = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + later };
  const made = await setup({ clock, budget: { seconds: 60 } });
  const notices = async () => {
    const ids = new Set((await made.callsOf('fx.effect')).map(({ runId }) => runId));
    const all = await Promise.all([made.runId, ...ids].map((id) => made.runs.get(id)));
    return JSON.stringify(all).match(/budget_seconds/g);
  };
  const decide = async (id = '') => {
    later += 50_000;
    await made.calls.decide(id, FIRST_OPERATOR, { decision: 'yes' });
  };
  const [first, second] = await made.asked();
  await decide(first?.id);
  await expect.poll(async () => (await made.asked()).length).toBe(1);
  await decide(second?.id);
  expect((await made.ended(made.runId)).status).toBe('idle');
  expect(await notices()).toBeNull();
  expect(made.effects).toHaveLength(2);
});
