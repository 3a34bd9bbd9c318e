import { expect, test } from 'vitest';
import { type Agent, FIRST_OPERATOR, type Principal } from '../auth/principal.ts';
import {
  type CallsSetup,
  operator,
  type SetupOptions,
  setupCalls,
  tool,
} from '../calls/testing/setup-calls.ts';

const asks = () => ({ verdict: 'ask', reason: 'it has effects' }) as const;
const run: Principal = { kind: 'run', runId: 'run_1', owner: operator };
const bot: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['fx'] };
const olga: Principal = { ...FIRST_OPERATOR, name: 'olga', role: 'operator', tokenId: 'tok_olga' };

async function setup(options: SetupOptions = {}) {
  const one = await setupCalls({ check: asks, ...options });
  const phone = one.connect('phone');
  phone.offer(tool('fx'));
  return { ...one, phone };
}

/** One call after the other, with these numbers as arguments. */
async function invokeAll({ invoke }: Pick<CallsSetup, 'invoke'>, ns: readonly number[], more = {}) {
  const made = [];
  for (const n of ns) made.push(await invoke('fx', { n }, { principal: run, ...more }));
  return made;
}

const FIVE = [1, 2, 3, 4, 5];

const phases = (made: readonly { phase: string | null }[]) => made.map(({ phase }) => phase);
const latest = (one: CallsSetup, made: readonly { id: string }[]) =>
  Promise.all(made.map(({ id }) => one.call(id)));

test('[CA43] [CA71] T80: of 200 different questions of a run five are asked and fifty held, and the others end as refused', async () => {
  const one = await setup();
  const made = await invokeAll(
    one,
    Array.from({ length: 200 }, (_, n) => n),
  );
  expect(phases(made.slice(0, 5))).toEqual(Array(5).fill('approval'));
  expect(phases(made.slice(5, 55))).toEqual(Array(50).fill('held'));
  expect(phases(made.slice(55))).toEqual(Array(145).fill(null));
  expect(made.at(-1)).toMatchObject({
    status: 'FAILED',
    error: { code: 'denied', executed: 'no', reason: 'too_many_approvals' },
  });
  expect(made.at(-1)?.error?.message).toMatch(/5 .*wait for a person.*Wait for .*do not repeat/s);
  expect((await invokeAll(one, [7], { runId: 'run_2', principal: operator }))[0]?.phase).toBe(
    'approval',
  );
});

test('[CA71] who says yes to everything has all of eight run, each in its turn, whose clock starts when it is shown', async () => {
  const one = await setup();
  const made = await invokeAll(one, [1, 2, 3, 4, 5, 6, 7, 8]);
  expect(phases(made)).toEqual([...Array(5).fill('approval'), ...Array(3).fill('held')]);
  expect(made[5]?.card.clock ?? null).toBeNull();
  one.clock.advance(60_000);
  for (const { id } of made) {
    expect(await one.calls.decide(id, operator, { decision: 'yes' })).toMatchObject({ ok: true });
    await one.settle();
  }
  expect(one.phone.requests()).toHaveLength(8);
  const [, ...events] = await one.calls.events(made[7]?.id ?? '', { after: 0, limit: 10 });
  expect(events[0]).toMatchObject({ type: 'turn_came', update: { phase: 'approval' } });
  const deadline_at = one.clock.now() / 1_000 + 600;
  expect(events[0]?.update.clock).toMatchObject({ name: 'approval', deadline_at });
});

test('[CA71] what is held is no question yet: no one decides on it, it can be cancelled, and equal calls are held with it', async () => {
  const one = await setup();
  const made = await invokeAll(one, [...FIVE, 6, 6, 7]);
  const [sixth, same, seventh] = made.slice(5);
  const decided = await one.calls.decide(sixth?.id ?? '', operator, { decision: 'yes' });
  expect(decided).toMatchObject({ ok: false, code: 'conflict' });
  await one.calls.cancel(seventh?.id ?? '', 'not needed', 'operator');
  expect((await one.call(seventh?.id ?? '')).error?.executed).toBe('no');
  await one.calls.decide(made[0]?.id ?? '', operator, { decision: 'no' });
  await one.settle();
  const equal = await latest(
    one,
    [sixth, same].filter((call) => call !== undefined),
  );
  expect(phases(equal)).toEqual(['approval', 'approval']);
});

test('[CA71] how many are shown at once, and for how long, are settings', async () => {
  const one = await setup({ approvals: { at_once: 2, wait_seconds: 30 } });
  const made = await invokeAll(one, [1, 2, 3]);
  expect(phases(made)).toEqual(['approval', 'approval', 'held']);
  one.clock.advance(30_000);
  await one.settle();
  const ended = await latest(one, made);
  expect(ended[0]?.error).toMatchObject({ code: 'approval_expired', params: { seconds: '30' } });
  expect(ended[2]?.phase).toBe('approval');
});

test('[CA43] what a sub-agent asked is given back to the run above it, also once that one is forgotten', async () => {
  const above = new Map([['run_1', 'run_0']]);
  const one = await setup({ rootOf: (runId) => above.get(runId) ?? runId });
  const made = await invokeAll(one, FIVE);
  const ofParent = (n: number) => invokeAll(one, [n], { runId: 'run_0', principal: operator });
  const [sixth] = await ofParent(6);
  expect(sixth?.phase).toBe('held');
  above.clear();
  for (const { id } of made) await one.calls.cancel(id, 'Its sub-agent has ended', 'server');
  expect((await ofParent(7))[0]?.phase).toBe('approval');
  expect((await one.call(sixth?.id ?? '')).phase).toBe('approval');
});

test('[CA43] [CA71] it holds for the calls of a model, and over a restart', async () => {
  const before = await setup();
  const made = await invokeAll(before, [...FIVE, 6]);
  await before.close();
  const after = await setup({ dir: before.dir });
  await after.calls.recover();
  const drafted = () => after.calls.draft({ principal: run, runId: 'run_1', tool: 'fx' });
  expect(await (await drafted()).complete({ n: 7 })).toMatchObject({ phase: 'held' });
  expect(await (await drafted()).complete({ n: 5 })).toMatchObject({ phase: 'approval' });
  expect((await after.call(made[5]?.id ?? '')).phase).toBe('held');
  await after.calls.decide(made[0]?.id ?? '', operator, { decision: 'no' });
  await after.settle();
  expect((await after.call(made[5]?.id ?? '')).phase).toBe('approval');
});

test('[CA43] an agent makes no room for itself by other runs; another agent, and a person, have theirs', async () => {
  const one = await setup();
  for (const n of FIVE) await one.invoke('fx', { n }, { principal: bot, runId: `run_b${n}` });
  const sixth = await one.invoke('fx', { n: 6 }, { principal: bot, runId: 'run_b6' });
  expect(sixth.phase).toBe('held');
  const namesake = { ...bot, tokenId: 'tok_other' };
  const others = [
    await one.invoke('fx', { n: 6 }, { principal: namesake, runId: 'run_c' }),
    await one.invoke('fx', { n: 6 }, { runId: 'run_d' }),
  ];
  expect(phases(others)).toEqual(['approval', 'approval']);
});

test('[CA43] T80: a program has no more than twenty questions asked by the runs that it begins', async () => {
  const one = await setup();
  const inRun = (owner: Agent | typeof operator, n: number) => {
    const runId = `run_${owner.tokenId}_${n}`;
    return one.invoke('fx', { n }, { runId, principal: { kind: 'run', runId, owner } });
  };
  const made = [];
  for (let n = 0; n < 72; n += 1) made.push(await inRun(bot, n));
  expect(phases(made)).toEqual([
    ...Array(20).fill('approval'),
    ...Array(50).fill('held'),
    ...[null, null],
  ]);
  expect((await inRun({ ...bot, tokenId: 'tok_other' }, 1)).phase).toBe('approval');
  for (let n = 0; n < 22; n += 1) expect((await inRun(operator, n)).phase).toBe('approval');
  await one.calls.decide(made[0]?.id ?? '', operator, { decision: 'no' });
  await one.settle();
  expect((await one.call(made[20]?.id ?? '')).phase).toBe('approval');
});

test('[CA44] 80 equal requests are one question: one yes runs all, each with its own record', async () => {
  const one = await setup();
  const made = await invokeAll(one, new Array(80).fill(1));
  expect(new Set(made.map(({ card }) => card.approval_key)).size).toBe(1);
  const [, second] = made;
  const outcome = await one.calls.decide(second?.id ?? '', olga, {
    decision: 'yes',
    args: { n: 2 },
  });
  expect(outcome).toMatchObject({
    ok: true,
    // Equal calls may come just before the press: the one who decides sees how many it was.
    call: { id: second?.id, card: { approval_decision: { calls: 80 } } },
  });
  await one.settle();
  expect(one.phone.requests().map(({ args }) => args)).toEqual(new Array(80).fill({ n: 2 }));
  const ids = new Set(one.phone.requests().map(({ id }) => id));
  expect(ids).toEqual(new Set(made.map(({ id }) => id)));
  for (const { id } of made) {
    const events = await one.calls.events(id, { after: 0, limit: 10 });
    expect(events.map(({ type, actor }) => [type, actor])).toContainEqual([
      'approved',
      'operator:olga',
    ]);
  }
});

test('[CA47] T72: a yes to the calls that a person was shown runs none that came since', async () => {
  const one = await setup();
  const [first] = await invokeAll(one, [1, 1]);
  await invokeAll(one, [1]);
  const decide = (calls: number) =>
    one.calls.decide(first?.id ?? '', olga, { decision: 'yes', calls });
  expect(await decide(2)).toMatchObject({ ok: false, code: 'conflict' });
  await one.settle();
  expect(one.phone.requests()).toEqual([]);
  expect(await decide(3)).toMatchObject({ ok: true });
  await one.settle();
  expect(one.phone.requests()).toHaveLength(3);
});

test('[CA44] one no ends all that are equal, and none that differs in argument, caller or client', async () => {
  const one = await setup();
  const equal = await invokeAll(one, [1, 1]);
  const others = [
    ...(await invokeAll(one, [2])),
    await one.invoke('fx', { n: 1 }),
    await one.invoke('fx', { n: 1 }, { principal: run, clientId: 'tablet' }).catch(() => undefined),
    await one.invoke('fx', { n: 1 }, { principal: run, runId: 'run_2' }),
  ];
  await one.calls.decide(equal[0]?.id ?? '', operator, { decision: 'no', note: 'not now' });
  for (const { id } of equal) {
    expect((await one.call(id)).error).toMatchObject({
      code: 'denied',
      message: expect.stringMatching(/not now/),
    });
    expect((await one.call(id)).card.approval_decision?.calls).toBe(2);
  }
  for (const other of others) {
    if (other) expect((await one.call(other.id)).phase).toBe('approval');
  }
});

test('[CA44] an answer by hand is the result of each call that is equal, and of no other', async () => {
  const one = await setup();
  const made = await invokeAll(one, [1, 1, 2]);
  await one.calls.answer(made[1]?.id ?? '', olga, 'by hand');
  const [first, second, other] = await latest(one, made);
  const approval_decision = { by: 'operator:olga', decision: 'answer', calls: 2 };
  const answered = { status: 'SUCCEEDED', result: 'by hand', card: { approval_decision } };
  expect([first, second]).toMatchObject([answered, answered]);
  expect([other?.phase, one.phone.requests()]).toEqual(['approval', []]);
});

test('[CA44] no question has more than 100 equal calls', async () => {
  const one = await setup();
  const made = await invokeAll(one, new Array(101).fill(1));
  expect(made[99]?.phase).toBe('approval');
  expect(made[100]?.error).toMatchObject({ code: 'denied', reason: 'too_many_approvals' });
  expect(made[100]?.error?.message).toContain('the same');
});

test('[CA45] of two who decide the first counts, and the other one learns whose decision it was', async () => {
  const one = await setup();
  const [call] = await invokeAll(one, [1]);
  const id = call?.id ?? '';
  const [first, second] = await Promise.all([
    one.calls.decide(id, olga, { decision: 'yes', args: { n: 3 } }),
    one.calls.decide(id, operator, { decision: 'no' }),
  ]);
  expect(first).toMatchObject({ ok: true });
  expect(second).toMatchObject({
    ok: false,
    code: 'conflict',
    message: expect.stringMatching(/operator:olga/),
  });
  const by = { by: 'operator:olga', decision: 'yes', edited: true };
  expect((await one.call(id)).card.approval_decision).toEqual(by);
  await one.settle();
  expect(one.cardOf(id)?.approval_decision).toEqual(by);
  const [denied] = await invokeAll(one, [2]);
  await one.calls.decide(denied?.id ?? '', olga, { decision: 'no', note: 'too much' });
  expect(await one.calls.decide(denied?.id ?? '', operator, { decision: 'yes' })).toMatchObject({
    ok: false,
    code: 'already_final',
    message: expect.stringMatching(/operator:olga/),
  });
  expect((await one.call(denied?.id ?? '')).card.approval_decision).toEqual({
    ...{ by: 'operator:olga', decision: 'no', note: 'too much' },
  });
});

test('[CA45] an answer by hand, or a cancel, is a first decision too, and whose it was is in the refusal', async () => {
  const one = await setup();
  const [answered, cancelled] = await invokeAll(one, [1, 2]);
  await one.calls.answer(answered?.id ?? '', olga, 'by hand');
  await one.calls.cancel(cancelled?.id ?? '', 'not now', 'operator:olga', 'operator:olga');
  const decided = { by: 'operator:olga', decision: 'answer' };
  expect((await one.call(answered?.id ?? '')).card.approval_decision).toEqual(decided);
  for (const [call, did] of [
    [answered, 'answer'],
    [cancelled, 'cancel'],
  ] as const) {
    const late = {
      ok: false,
      code: 'already_final',
      params: { by: 'operator:olga', decision: did },
    };
    const id = call?.id ?? '';
    expect(await one.calls.decide(id, operator, { decision: 'yes' })).toMatchObject(late);
    expect(await one.calls.answer(id, operator, 'other')).toMatchObject(late);
    expect(await one.calls.cancel(id, 'late', 'operator', 'operator')).toMatchObject(late);
  }
});

test('[CA45] an answer by hand to what was allowed before leaves whose decision that was', async () => {
  const one = await setup();
  const [call] = await invokeAll(one, [1]);
  const id = call?.id ?? '';
  await one.calls.decide(id, olga, { decision: 'yes' });
  expect(await one.calls.answer(id, operator, 'by hand')).toMatchObject({ ok: true });
  expect((await one.call(id)).card.approval_decision).toEqual({
    ...{ by: 'operator:olga', decision: 'yes' },
  });
});
