import { expect, test } from 'vitest';
import { compilePolicy, type PolicyQuestion } from '#lib/policy/decide-policy';
import { policyDefinitionSchema } from '#lib/policy/policy-definition';
import type { Agent, Principal } from '../auth/principal.ts';
import { operator, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import { RateLimits } from './rate-limits.ts';
import { testPolicy } from './testing/test-policy.ts';

const bot: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['pay', 'mail'] };

async function setup(policy: object, dir?: string) {
  const one = await setupCalls({
    ...(dir === undefined ? {} : { dir }),
    check: (request) => live.check(request),
  });
  const limits = new RateLimits(one);
  await limits.load();
  const live = testPolicy({ unknown_effects: 'allow', ...policy }, { limits, clock: one.clock });
  one.connect('till').offer(tool('pay'), tool('mail'));
  const call = (name: string, principal: Principal = operator, runId = 'run_1') =>
    one.calls.invoke({ tool: name, runId, args: {}, principal });
  return { ...one, limits, call };
}

const made = { ok: true };
const refused = { ok: false, code: 'rate_limited' };

test('[PO11] calls beyond the limit are refused with the time, and leave nothing', async () => {
  const { call, calls, clock } = await setup({
    limits: [{ name: 'two a minute', tools: ['pay'], calls: 2, seconds: 60 }],
  });
  expect([await call('pay'), await call('PAY'), await call('mail')]).toMatchObject([
    made,
    { ok: false, code: 'tool_not_found' },
    made,
  ]);
  expect(await call('pay')).toMatchObject(made);
  expect(await call('pay')).toEqual({
    ...refused,
    message:
      'The limit "two a minute" of the policy allows no further call of pay now; try again in 30 s',
    retryAfter: 30,
  });
  expect((await calls.list({ limit: 10 })).calls).toHaveLength(3);
  clock.advance(29_000);
  expect(await call('pay')).toMatchObject({ ...refused, retryAfter: 1 });
  clock.advance(1_000);
  expect([await call('pay'), await call('pay')]).toMatchObject([made, refused]);
});

test('[PO11] [RU9] a call that is refused so makes no run', async () => {
  const { call, runsMade } = await setup({ limits: [{ calls: 1, seconds: 10 }] });
  await call('pay', operator, 'run_first');
  expect(await call('pay', operator, 'run_next')).toMatchObject(refused);
  expect(runsMade).toEqual(['run_first']);
});

test('[PO11] T80: of a model’s call the card and the model are given the reason', async () => {
  const { calls } = await setup({ limits: [{ calls: 1, seconds: 10 }] });
  const run: Principal = { kind: 'run', runId: 'run_1', owner: operator };
  const complete = async () => {
    const draft = await calls.draft({ principal: run, runId: 'run_1', tool: 'pay' });
    return draft.complete({});
  };
  expect((await complete()).status).toBe('RUNNING');
  expect(await complete()).toMatchObject({
    status: 'FAILED',
    error: {
      ...{ code: 'denied', executed: 'no', reason: 'rate_limited' },
      message: expect.stringContaining('try again in 10 s'),
    },
  });
});

test('[PO11] each caller has a count of its own, and its runs share it', async () => {
  const { call } = await setup({ limits: [{ calls: 1, seconds: 9, each: ['caller'] }] });
  const ofBot: Principal = { kind: 'run', runId: 'run_b', owner: bot };
  expect(await call('pay', operator)).toMatchObject(made);
  expect(await call('pay', bot, 'run_b')).toMatchObject(made);
  expect(await call('pay', ofBot, 'run_b')).toMatchObject(refused);
  const namesake = { ...bot, name: 'other', tokenId: 'tok_other' };
  expect(await call('pay', namesake, 'run_o')).toMatchObject(made);
});

test('[PO11] a call counts by all of its limits or by none, and a denied one by none', async () => {
  const { call, clock } = await setup({
    deny: ['door'],
    rules: [{ effect: 'deny', tools: ['mail'], callers: [{ name: 'bot' }] }],
    limits: [
      { name: 'all', calls: 3, seconds: 300 },
      { name: 'pay', tools: ['pay'], calls: 1, seconds: 10 },
    ],
  });
  expect(await call('mail', bot, 'run_b')).toMatchObject({ ok: true, call: { status: 'FAILED' } });
  expect(await call('pay')).toMatchObject(made);
  for (let n = 0; n < 5; n += 1) expect(await call('pay')).toMatchObject(refused);
  clock.advance(10_000);
  expect([await call('pay'), await call('mail')]).toMatchObject([made, made]);
  expect(await call('mail')).toMatchObject({ ...refused, retryAfter: 90 });
});

test('[PO11] what is used up stays so over a restart, and a clock set back gives nothing', async () => {
  const policy = { limits: [{ name: 'one', calls: 1, seconds: 60, each: ['tool'] }] };
  const first = await setup(policy);
  expect(await first.call('pay')).toMatchObject(made);
  const next = new RateLimits(first);
  await next.load();
  const compiled = compilePolicy(policyDefinitionSchema.parse(policy));
  const question = { ...ASKED, toolName: 'pay' };
  expect(next.left(compiled, question)).toEqual([{ limit: 'one', left: 0, retry_after: 60 }]);
  first.clock.setWall(-3_600_000);
  expect(next.take(compiled, question)).toMatchObject({ left: 0 });
  expect(next.take(compiled, { ...question, toolName: 'mail' })).toBeUndefined();
});

const ASKED: PolicyQuestion = {
  caller: { kind: 'operator', name: 'operator', role: 'admin' },
  ...{ via: 'http', toolName: 'pay', clientId: 'till', access: 'write', schemaHash: 'h', args: {} },
  ...{ source: 'client', isUntrusted: true },
};

const question = (toolName: string) => ({ ...ASKED, toolName });
const policyOf = (limits: object[]) => compilePolicy(policyDefinitionSchema.parse({ limits }));

test('[PO12] of 10,000 counts a caller has half, none is forgotten for a further one, and full ones go', async () => {
  const one = await setupCalls();
  const limits = new RateLimits(one);
  const policy = compilePolicy(
    policyDefinitionSchema.parse({ limits: [{ calls: 1, seconds: 30, each: ['client'] }] }),
  );
  const take = (clientId: string) => limits.take(policy, { ...ASKED, clientId })?.left;
  for (let n = 0; n < 5_000; n += 1) expect(take(`c${n}`)).toBeUndefined();
  // The first of the rest takes what they share.
  expect([take('more'), take('again'), take('c0')]).toEqual([undefined, 0, 0]);
  const other = { ...ASKED, caller: { kind: 'agent' as const, name: 'bot' } };
  const ofOther = (clientId: string) => limits.take(policy, { ...other, clientId })?.left;
  expect([ofOther('more'), ofOther('again'), ofOther('more')], 'by a stranger').toEqual([
    ...[undefined, undefined, 0],
  ]);
  await one.settle();
  expect((await one.store.listKept('rate')).length).toBe(5_003);
  one.clock.advance(59_000);
  expect(take('c0'), 'full again').toBeUndefined();
  await one.settle();
  expect((await one.store.listKept('rate')).length, 'once a minute').toBe(5_003);
  one.clock.advance(30_000);
  expect([take('more'), take('again'), take('again')]).toEqual([undefined, undefined, 0]);
  await one.settle();
  expect((await one.store.listKept('rate')).length).toBe(2);
});

test('[PO11] a limit without a name keeps its count wherever it stands in the file', async () => {
  const one = await setup({});
  const ofPay = { tools: ['pay'], calls: 2, seconds: 600 };
  const leftOf = (limits: object[]) =>
    one.limits.left(policyOf(limits), question('pay')).map(({ left }) => left);
  expect(one.limits.take(policyOf([ofPay]), question('pay'))).toBeUndefined();
  const inserted = { calls: 5, seconds: 600 };
  expect(leftOf([inserted, ofPay])).toEqual([5, 1]);
  expect(leftOf([{ seconds: 600, calls: 2, tools: ['pay'] }])).toEqual([1]);
  expect(leftOf([{ ...ofPay, seconds: 601 }])).toEqual([2]);
});

test('[PO11] a call counts once by limits that say the same', async () => {
  const { limits } = await setup({});
  const twice = policyOf([
    { calls: 2, seconds: 600 },
    { calls: 2, seconds: 600 },
  ]);
  expect(limits.take(twice, question('pay'))).toBeUndefined();
  expect(limits.left(twice, question('pay')).map(({ left }) => left)).toEqual([1, 1]);
});
