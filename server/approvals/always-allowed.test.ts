import { expect, test } from 'vitest';
import { type ApprovalScope, NO_ROUTING } from '#lib/call/call';
import type { AlwaysCaller } from '#lib/protocol/always';
import { type Agent, FIRST_OPERATOR } from '../auth/principal.ts';
import { operator, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import { AlwaysAllowed } from './always-allowed.ts';

/** The built-in agent, for the operator of the first run. */
const BUILT_IN: AlwaysCaller = { kind: 'run', name: 'operator', id: 'operator' };

const asked = (n: number, more: Partial<ApprovalScope> = {}) => ({
  runId: `run_${n}`,
  ownerToken: null,
  toolName: 'pay',
  routing: { ...NO_ROUTING, approval: { clientId: 'till', toolHash: 'h', ...more } },
});

type Asked = Parameters<AlwaysAllowed['add']>[0] & { readonly args?: Record<string, unknown> };

const has = (always: AlwaysAllowed, call: Asked, caller: AlwaysCaller): boolean =>
  always.matching({ args: {}, ...call }, caller, {}).length > 0;

test('[CA8] of what is always allowed the oldest goes first, on disk too', async () => {
  const { store, clock } = await setupCalls();
  const always = new AlwaysAllowed({ store, clock });
  const add = (n: number) => always.add(asked(n), BUILT_IN, {}, 'operator');
  const adding = Array.from({ length: 1_000 }, (_, n) => add(n));
  await Promise.all([...adding, add(0), add(1_000)]);
  const started = new AlwaysAllowed({ store, clock });
  await started.load();
  for (const one of [always, started]) {
    expect([0, 1, 2, 1_000].map((n) => has(one, asked(n), BUILT_IN))).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(one.list()).toHaveLength(1_000);
  }
});

test('[CA8] what is withdrawn is asked again, after a restart too', async () => {
  const before = await setupCalls();
  const { store, clock } = before;
  const always = new AlwaysAllowed({ store, clock });
  const adding = [asked(1), asked(1, { clientId: null })];
  await Promise.all(adding.map((one) => always.add(one, BUILT_IN, {}, 'operator')));
  const [rule] = always.list();
  expect(rule).toMatchObject({ runId: 'run_1', clientId: 'till', allowedAt: clock.now() });
  expect(await always.withdraw(rule?.id ?? '')).toEqual(rule);
  expect(await always.withdraw(rule?.id ?? '')).toBeUndefined();
  await before.close();
  const after = await setupCalls({ dir: before.dir });
  const started = new AlwaysAllowed({ store: after.store, clock });
  await started.load();
  expect([
    has(started, asked(1), BUILT_IN),
    has(started, asked(1, { clientId: null }), BUILT_IN),
  ]).toEqual([false, true]);
  expect(has(started, asked(1, { clientId: null, toolHash: 'other' }), BUILT_IN)).toBe(false);
});

const DAY_MS = 24 * 3_600_000;

test('[CA30] a saved rule holds in each run of the same owner, and of no other', async () => {
  const { store, clock } = await setupCalls();
  const always = new AlwaysAllowed({ store, clock });
  const of = (n: number, ownerToken: string | null) => ({ ...asked(n), ownerToken });
  await always.add(of(1, 'tok_bot'), BUILT_IN, { scope: 'saved' }, 'operator:olga');
  const after = new AlwaysAllowed({ store, clock });
  await after.load();
  for (const one of [always, after]) {
    const calls = [of(1, 'tok_bot'), of(2, 'tok_bot'), of(1, 'tok_other'), of(1, null)];
    expect(calls.map((call) => has(one, call, BUILT_IN))).toEqual([true, true, false, false]);
    expect(one.list()).toMatchObject([{ scope: 'saved', allowedBy: 'operator:olga' }]);
  }
  expect(always.list()[0]?.expiresAt).toBe(clock.now() + 30 * DAY_MS);
});

test('[CA30] what has expired is asked about, listed no more, and taken off the disk', async () => {
  const { store, clock } = await setupCalls();
  const always = new AlwaysAllowed({ store, clock });
  await always.add(asked(1), BUILT_IN, { forMs: 60_000 }, 'operator');
  await always.add(asked(2), BUILT_IN, {}, 'operator');
  clock.advance(59_999);
  expect([has(always, asked(1), BUILT_IN), always.list().length]).toEqual([true, 2]);
  clock.advance(1);
  expect([
    has(always, asked(1), BUILT_IN),
    has(always, asked(2), BUILT_IN),
    always.list().length,
  ]).toEqual([false, true, 1]);
  await always.add(asked(3), BUILT_IN, {}, 'operator');
  expect(await store.listKept('always')).toHaveLength(2);
  await always.add(asked(1), BUILT_IN, {}, 'operator');
  expect(has(always, asked(1), BUILT_IN)).toBe(true);
});

test.each(['http.request', 'Http_Request', 'run_code'])(
  '[CA31] T74: %s is asked about each time, whatever is decided',
  async (name) => {
    const { connect, invoke, calls, call } = await setupCalls({
      check: () => ({ verdict: 'ask', reason: 'it has effects' }),
    });
    connect('phone').offer(tool(name), tool('pay'));
    const { id, card } = await invoke(name, { command: 'ls' });
    expect(card.always_rule).toBeNull();
    expect(await calls.decide(id, operator, { decision: 'always' })).toMatchObject({
      ...{ ok: false, code: 'conflict' },
      message: expect.stringContaining('asked about each time'),
    });
    expect((await call(id)).phase).toBe('approval');
    await calls.decide(id, operator, { decision: 'yes' });
    expect([(await call(id)).phase, (await invoke(name)).phase]).toEqual(['offered', 'approval']);
    expect(calls.always.list()).toEqual([]);
  },
);

test('[CA31] the card shows the exact rule before it is written, and that one is written', async () => {
  const { connect, invoke, calls, call } = await setupCalls({
    check: () => ({ verdict: 'ask', reason: 'it pays' }),
  });
  const till = connect('till');
  till.offer(tool('pay'));
  const { id, card } = await invoke('pay', { amount: 5 });
  const olga = { ...FIRST_OPERATOR, name: 'olga', tokenId: 'tok_olga' };
  await calls.decide(id, olga, { decision: 'always', always: { scope: 'saved', forMs: 60_000 } });
  const [rule] = calls.always.list();
  expect(card.always_rule).toEqual({
    ...{ tool_name: 'pay', client_id: 'till', run_id: 'run_1' },
    tool_hash: rule?.toolHash,
    caller: { kind: 'operator', name: 'operator', id: 'operator' },
  });
  expect(rule).toMatchObject({
    ...{ scope: 'saved', toolName: 'pay', clientId: 'till', allowedBy: 'operator:olga' },
  });
  expect((await invoke('pay', { amount: 6 }, { runId: 'run_2' })).phase).toBe('offered');
  const bot: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['pay'] };
  const ofBot = await invoke('pay', {}, { runId: 'run_bot', principal: bot });
  expect((await call(ofBot.id)).phase).toBe('approval');
  till.offer(tool('pay', { description: 'Another one' }));
  expect((await invoke('pay')).phase).toBe('approval');
});

const OLGA: AlwaysCaller = { kind: 'operator', name: 'operator:olga', id: 'tok_olga' };

test.each(['run', 'saved'] as const)(
  '[CA30] what one caller may always do is asked about for another (%s)',
  async (scope) => {
    const { store, clock } = await setupCalls();
    const always = new AlwaysAllowed({ store, clock });
    await always.add(asked(1), OLGA, { scope }, 'operator:olga');
    const after = new AlwaysAllowed({ store, clock });
    await after.load();
    const others: AlwaysCaller[] = [
      { ...OLGA, id: 'tok_olga_2' },
      { ...OLGA, kind: 'run' },
      { ...OLGA, kind: 'agent' },
    ];
    for (const one of [always, after]) {
      expect(one.list()).toMatchObject([{ caller: OLGA }]);
      expect(has(one, asked(1), OLGA)).toBe(true);
      expect(others.map((caller) => has(one, asked(1), caller))).toEqual([false, false, false]);
      expect(has(one, { ...asked(1), ownerToken: 'tok_other' }, OLGA)).toBe(false);
    }
  },
);

test('[CA30] what the owner of a run may always do is asked about where another wrote what is answered', async () => {
  const olga = { ...FIRST_OPERATOR, name: 'olga', tokenId: 'tok_olga' };
  const eve = { ...FIRST_OPERATOR, name: 'eve', tokenId: 'tok_eve' };
  const { connect, calls } = await setupCalls({
    check: () => ({ verdict: 'ask', reason: 'it pays' }),
    callers: { callerOf: () => olga, operatorNamed: () => undefined },
    denial: ({ principal }) =>
      principal.kind === 'run' && principal.owner.tokenId === 'tok_eve' ? 'not hers' : undefined,
  });
  connect('till').offer(tool('pay'));
  const call = async (askedBy?: typeof FIRST_OPERATOR) => {
    const principal = { kind: 'run', runId: 'run_1', owner: olga, askedBy } as const;
    const draft = await calls.draft({ principal, runId: 'run_1', tool: 'pay' });
    const { id, phase, error, card } = await draft.complete({});
    return { id, is: phase ?? error?.message, caller: card.always_rule?.caller?.name };
  };
  const first = await call();
  await calls.decide(first.id, operator, { decision: 'always' });
  expect((await call()).is).toBe('offered');
  expect(await call(operator)).toMatchObject({ is: 'approval', caller: 'operator' });
  expect((await call(eve)).is).toBe('not hers');
});

test('[CA30] rules of an earlier version, which name no caller, lapse at the start', async () => {
  const { store, clock } = await setupCalls();
  const value = {
    ...{ scope: 'run', runId: 'run_1', ownerToken: null, toolName: 'pay' },
    ...{ clientId: 'till', toolHash: 'h', allowedAt: 1, allowedBy: 'operator' },
  };
  await store.write([{ type: 'put_kept', entry: { area: 'always', key: 'old', value, putAt: 1 } }]);
  const started = new AlwaysAllowed({ store, clock });
  await started.load();
  expect(started.list()).toEqual([]);
  expect(await store.listKept('always')).toEqual([]);
});

test('[CA30] a rule shows when it was last used, to the minute and over restarts', async () => {
  const { store, clock } = await setupCalls();
  const always = new AlwaysAllowed({ store, clock });
  for (const n of [1, 2]) {
    await always.add(asked(n), BUILT_IN, {}, 'operator');
    clock.advance(1);
  }
  expect(always.list().map(({ lastUsedAt }) => lastUsedAt)).toEqual([null, null]);
  const usedAt = clock.now();
  const use = async () => {
    const [rule] = always.matching({ args: {}, ...asked(1) }, BUILT_IN, {});
    if (rule) await store.write(always.take(rule).counted());
  };
  await use();
  clock.advance(59_999);
  await use();
  const started = new AlwaysAllowed({ store, clock });
  await started.load();
  for (const one of [always, started]) {
    expect(one.list()).toMatchObject([
      { runId: 'run_1', lastUsedAt: usedAt },
      { runId: 'run_2', lastUsedAt: null },
    ]);
  }
  clock.advance(1);
  await use();
  expect(always.list()[0]?.lastUsedAt).toBe(usedAt + 60_000);
});
