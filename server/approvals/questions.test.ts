import { expect, test } from 'vitest';
import { outputOfRecord } from '#lib/call/model-output';
import { CLOCKS } from '#lib/protocol/limits';
import { type Agent, FIRST_OPERATOR, type Principal } from '../auth/principal.ts';
import { operator, type SetupOptions, setupCalls } from '../calls/testing/setup-calls.ts';
import { createAskHuman } from '../tools/builtin/ask-human.ts';

const run: Principal = { kind: 'run', runId: 'run_1', owner: operator };
const bot: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['ask_human'] };
const olga: Principal = { ...FIRST_OPERATOR, name: 'olga', role: 'operator', tokenId: 'tok_olga' };
const vera: Principal = { ...FIRST_OPERATOR, name: 'vera', role: 'viewer', tokenId: 'tok_vera' };

async function setup(options: SetupOptions = {}) {
  const one = await setupCalls({ tools: [createAskHuman()], ...options });
  const ask = (args: object = { question: 'Which colour?' }, more: object = {}) =>
    one.invoke('ask_human', args, { principal: run, ...more });
  const answer = (id: string, output: unknown, by: Principal = olga) =>
    one.calls.answer(id, by, output);
  return { ...one, ask, answer };
}

const COLOURS = {
  question: 'Which colour?',
  choices: [{ label: 'Red' }, { label: 'Blue', value: 'b' }],
};

test('[CA60] a question waits for a person, whose answer is its result and says so', async () => {
  const one = await setup();
  const { id, status, phase, card } = await one.ask();
  expect([status, phase]).toEqual(['PENDING', 'approval']);
  expect(card).toMatchObject({
    ...{ question: 'text', approval_reason: 'Which colour?', always_rule: null },
    clock: { name: 'approval' },
  });
  expect(await one.answer(id, ' Green ')).toMatchObject({ ok: true });
  const call = await one.call(id);
  expect(call).toMatchObject({
    status: 'SUCCEEDED',
    result: { answer: 'Green', answered_by: 'person' },
  });
  expect(outputOfRecord(call).text).toBe('{"answer":"Green","answered_by":"person"}');
  await one.settle();
  expect(one.cardOf(id)).toMatchObject({
    status: 'SUCCESS',
    approval_decision: { by: 'operator:olga', decision: 'answer' },
  });
});

test.each([
  [COLOURS, 'b', 'b', ['', 'Blue', 'green', true, ['b'], null]],
  [{ ...COLOURS, input: 'multiple' }, ['b', 'Red', 'b'], ['Red', 'b'], ['b', [], ['x'], null]],
  [{ question: 'Go on?', input: 'yes_no' }, false, false, ['no', 0, null, {}]],
  [{ question: 'Why?' }, 'So', 'So', ['', ' ', 'x'.repeat(8_001), 7, null, { text: 'So' }]],
] as const)('[CA60] %j takes an answer of its kind alone', async (args, given, taken, wrong) => {
  const one = await setup();
  const { id } = await one.ask(args);
  for (const output of wrong) {
    const refused = await one.answer(id, output);
    expect(refused).toMatchObject({ ok: false, code: 'invalid_args' });
  }
  expect((await one.call(id)).phase).toBe('approval');
  await one.answer(id, given);
  expect((await one.call(id)).result).toEqual({ answer: taken, answered_by: 'person' });
});

test('[CA60] declined with a reason, cancelled or unanswered it ends, not run, and the model reads why', async () => {
  const one = await setup();
  const { id } = await one.ask();
  await one.calls.decide(id, olga, { decision: 'no', note: 'Ask my boss' });
  expect((await one.call(id)).error).toEqual({
    ...{ code: 'denied', message: 'A person declined to answer: Ask my boss', executed: 'no' },
  });
  const cancelled = await one.ask();
  await one.calls.cancel(cancelled.id, 'Enough', 'operator');
  expect((await one.call(cancelled.id)).error).toMatchObject({ code: 'cancelled', executed: 'no' });
  const late = await one.ask();
  one.clock.advance(CLOCKS.approvalMs);
  await one.settle();
  expect((await one.call(late.id)).error).toEqual({
    code: 'approval_expired',
    message: 'No person answered within 600 s; the call was not run',
    executed: 'no',
    params: { seconds: '600' },
  });
});

test('[CA60] a yes is no answer, and neither a viewer, an agent nor a run answers', async () => {
  const one = await setup();
  const { id } = await one.ask();
  for (const decision of ['yes', 'always'] as const) {
    expect(await one.calls.decide(id, olga, { decision })).toMatchObject({ code: 'conflict' });
  }
  for (const by of [vera, bot, run, { ...run, owner: bot }]) {
    expect(await one.answer(id, 'me', by)).toMatchObject({ code: 'permission_denied' });
    const declined = await one.calls.decide(id, by, { decision: 'no' });
    expect(declined).toMatchObject({ code: 'permission_denied' });
  }
  expect((await one.call(id)).phase).toBe('approval');
});

test('[CA60] equal questions are one, and their answer is that of each', async () => {
  const one = await setup();
  const both = [await one.ask(), await one.ask()];
  await one.answer(both[1]?.id ?? '', 'Green');
  for (const { id } of both) expect((await one.call(id)).result).toMatchObject({ answer: 'Green' });
});

test('[CA60] [CA43] [CA46] questions and approvals are counted together', async () => {
  const one = await setup({
    check: ({ toolName }) =>
      toolName === 'hold' ? { verdict: 'ask', reason: 'it has effects' } : { verdict: 'allow' },
  });
  for (const n of [1, 2, 3]) await one.ask({ question: `Number ${n}?` });
  for (const n of [1, 2]) await one.invoke('hold', { accepting: `${n}` }, { principal: run });
  expect((await one.ask({ question: 'And?' })).phase).toBe('held');
});

test('[CA60] [TB40] the policy may deny it, and a text that no person can see is not asked', async () => {
  const denying = await setup({ check: () => ({ verdict: 'deny', reason: 'no questions' }) });
  expect((await denying.ask()).error).toMatchObject({ code: 'denied', message: 'no questions' });
  const one = await setup();
  const hidden = 'Pay\u202e \u200bBob\u{e0041}?';
  const { args, card } = await one.ask({ question: hidden, choices: [{ label: 'Yes\u2066' }] });
  expect(args).toEqual({
    ...{ question: 'Pay Bob?', input: 'choice', choices: [{ value: 'Yes', label: 'Yes' }] },
  });
  expect([card.params, card.approval_reason]).toEqual([args, 'Pay Bob?']);
  const wrong = [
    { question: '\u200b' },
    { question: 'Which?', choices: [{ label: 'a' }, { label: 'a\u200b' }] },
    { question: 'Which?', input: 'multiple' },
    { question: 'Which?', input: 'text', choices: [{ label: 'a' }] },
  ];
  for (const one_ of wrong) {
    expect((await one.ask(one_)).error).toMatchObject({ code: 'invalid_args', executed: 'no' });
  }
  const long = one.ask({ question: 'x'.repeat(2_001) });
  await expect(long).rejects.toThrow('invalid_args');
});

test('[CA60] the largest question is whole on its card', async () => {
  const one = await setup();
  const choices = Array.from({ length: 10 }, (_, n) => ({
    ...{ label: `${n}${'問'.repeat(199)}`, value: `${n}${'値'.repeat(99)}` },
  }));
  const { card } = await one.ask({ question: '問'.repeat(2_000), choices, input: 'multiple' });
  expect(card.params_bytes ?? null).toBe(null);
  expect(card.approval_reason).toHaveLength(301);
});
