import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { exactly } from '#lib/approval/bound-arguments';
import type { BoundArgument } from '#lib/protocol/always';
import { tempDir } from '#lib/testing/temp-dir';
import { operator, type SetupOptions, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import { defineTool } from '../tools/define-tool.ts';
import { createShell } from '../tools/workspace/shell-tool.ts';
import { AlwaysAllowed, type AlwaysTerms } from './always-allowed.ts';

const PAYS = { verdict: 'ask', reason: 'it pays' } as const;
const asking: SetupOptions = { check: () => PAYS };

const bound = (...list: BoundArgument[]) => ({ arguments: list, other_arguments: 'any' as const });

/** A till whose calls are asked about, and a rule that a person made of the first of them. */
async function setupTill(always: AlwaysTerms, options: SetupOptions = {}) {
  const parts = await setupCalls({ ...asking, ...options });
  const till = parts.connect('till');
  till.offer(tool('pay'));
  const pay = (args: object) => parts.invoke('pay', args);
  const decide = (id: string, terms: AlwaysTerms) =>
    parts.calls.decide(id, operator, { decision: 'always', always: terms });
  const first = await pay({ to: 'olga', amount: 5 });
  const decided = await decide(first.id, always);
  return { ...parts, pay, decide, decided };
}

test('[CA80] a rule that is bound to arguments allows those calls, and asks about each other', async () => {
  const to = { name: 'to', is: 'olga' };
  const { pay, calls } = await setupTill({
    bound: bound(to, { name: 'amount', at_most: 9 }),
  });
  const tried = [
    { to: 'olga', amount: 9 },
    { to: 'olga', amount: 9.5 },
    { to: 'eve', amount: 1 },
    { to: 'olga', amount: '1' },
    { to: 'olga' },
    { to: 'olga', amount: 1, note: 'x' },
  ];
  const made = [];
  for (const args of tried) made.push((await pay(args)).phase);
  expect(made).toEqual(['offered', 'approval', 'approval', 'approval', 'approval', 'offered']);
  const [rule] = calls.always.list();
  expect(rule?.bound.arguments).toEqual([to, { name: 'amount', at_most: 9 }]);
});

test('[CA83] the card of a call that a rule allows has the rule, its maker and the number of the use', async () => {
  const terms = { uses: 2, bound: bound({ name: 'amount', at_most: 9 }) };
  const { pay, calls, cardOf, settle } = await setupTill(terms);
  const [rule] = calls.always.list();
  const one = await pay({ to: 'olga', amount: 9 });
  await settle();
  expect(cardOf(one.id)?.allowed_by_rule).toEqual({
    ...{ id: rule?.id, by: 'operator', names: ['amount'], use: 1, uses: 2 },
  });
});

test.each<[string, SetupOptions]>([
  ['', {}],
  // All have taken their uses by then, and none of these is counted yet.
  [', each checked in a later moment', { check: async () => PAYS }],
])(
  '[CA82] [CA83] T74: of 64 calls at once%s, a rule of five uses allows five, and is over with the last',
  async (_when, options) => {
    const { pay, calls, store, cardOf, settle } = await setupTill({ uses: 5 }, options);
    const made = await Promise.all(
      Array.from({ length: 64 }, (_, amount) => pay({ to: 'olga', amount })),
    );
    expect(made.filter(({ phase }) => phase === 'offered')).toHaveLength(5);
    await settle();
    const used = made.map(({ id }) => cardOf(id)?.allowed_by_rule?.use);
    expect(used.filter((use) => use !== undefined)).toEqual([1, 2, 3, 4, 5]);
    expect([calls.always.list(), await store.listKept('always')]).toEqual([[], []]);
  },
);

test('[CA82] a use is on disk with its call, and is not counted again by a restart', async () => {
  const before = await setupTill({ uses: 3, scope: 'saved' });
  await before.pay({ to: 'olga', amount: 1 });
  await before.close();
  const after = await setupCalls({ ...asking, dir: before.dir });
  after.connect('till').offer(tool('pay'));
  await after.calls.recover();
  expect(after.calls.always.list()).toMatchObject([{ uses: 3, used: 1 }]);
  const phases = [];
  for (const amount of [2, 3, 4]) phases.push((await after.invoke('pay', { amount })).phase);
  expect(phases).toEqual(['offered', 'offered', 'approval']);
});

test('[CA82] a use of a call that there comes to be none of is given back', async () => {
  const { store, clock } = await setupTill({ uses: 1 });
  const always = new AlwaysAllowed({ store, clock });
  await always.load();
  const [kept] = always.list();
  if (!kept) throw new Error('The rule was not kept');
  const { caller, clientId, toolHash, ...of } = kept;
  const approval = { clientId, toolHash };
  const call = { ...of, args: {}, routing: { ...ROUTING, approval } };
  const use = always.take(kept);
  expect(always.matching(call, caller, {})).toEqual([]);
  use.release();
  expect([use.counted().length, always.matching(call, caller, {}).length]).toEqual([1, 0]);
});

const ROUTING = {
  ...{ fromClientId: null, schemaHash: null, checkedForClientId: null, hasOwnTimeout: false },
};

test.each<[string, AlwaysTerms, RegExp]>([
  ['an unknown argument', { bound: bound({ name: 'iban', is: 'DE1' }) }, /no argument "iban"/],
  ['a deep path', { bound: bound({ name: 'to.name', is: 'olga' }) }, /no argument/],
  ['a name that all objects have', { bound: bound({ name: '__proto__', is: {} }) }, /no argument/],
  ['too many bytes', { bound: bound({ name: 'to', is: 'x'.repeat(1 << 20) }) }, /bytes/],
  ['a limit below the call', { bound: bound({ name: 'amount', at_most: 4 }) }, /not be allowed/],
])('[CA81] T74: a rule with %s is refused, and the call waits', async (_what, terms, problem) => {
  const { decided, calls } = await setupTill(terms);
  expect(decided).toMatchObject({
    ...{ ok: false, code: 'invalid_args', message: expect.stringMatching(problem) },
  });
  expect([calls.always.list(), calls.watched()[0]?.card.phase]).toEqual([[], 'approval']);
});

test('[CA81] a rule is bound to no argument that is secret', async () => {
  const send = defineTool({
    ...{ name: 'send', displayName: 'Send', description: 'Sends', effect: 'write', timeoutMs: 900 },
    args: z.object({
      key: z.string().meta({ 'x-sensitive': true }),
      code: z.string().meta({ 'x-sensitive': true }),
      pin: z.number().meta({ 'x-sensitive': true }),
      to: z.string(),
    }),
    run: () => Promise.resolve({ output: 1 }),
  });
  const { invoke, calls } = await setupCalls({ ...asking, tools: [send] });
  const args = { key: 'hunter22', code: '1234', pin: 5678, to: 'olga' };
  const { id } = await invoke('send', args);
  const decide = (...list: BoundArgument[]) =>
    calls.decide(id, operator, { decision: 'always', always: { bound: bound(...list) } });
  for (const is of ['hunter22', '[redacted:argument]']) {
    expect(await decide({ name: 'key', is })).toMatchObject({ ok: false, code: 'invalid_args' });
  }
  // Neither is what is too short to be looked for elsewhere; nor does a refusal tell how large it is.
  const short = [
    { name: 'code', is: '1234' },
    { name: 'pin', is: 5678 },
    { name: 'pin', at_most: 6000 },
    { name: 'pin', at_most: 5000 },
  ];
  for (const one of short) {
    expect(await decide(one)).toMatchObject({ message: expect.stringContaining('is secret') });
  }
  const edited = await calls.decide(id, operator, {
    ...{ decision: 'always', args: { ...args, pin: 4321 } },
    always: { bound: bound({ name: 'pin', is: 4321 }) },
  });
  expect(edited).toMatchObject({ message: expect.stringContaining('is secret') });
  expect(await decide({ name: 'to', is: 'olga' })).toMatchObject({ ok: true });
});

test('[CA81] what is not checked as a whole is allowed by no rule that is bound to arguments', async () => {
  const { calls, store, clock } = await setupTill({
    bound: bound({ name: 'to', is: 'olga' }),
  });
  const [rule] = calls.always.list();
  if (!rule) throw new Error('There is no rule');
  const always = new AlwaysAllowed({ store, clock });
  await always.load();
  const { clientId, toolHash, caller } = rule;
  const routing = { ...ROUTING, approval: { clientId, toolHash } };
  const call = { ...rule, args: { to: 'olga' }, routing };
  expect(always.matching(call, caller, {})).toHaveLength(1);
  expect(always.matching(call, caller, { unchecked: ['/to'] })).toEqual([]);
});

test('[CA84] T74: shell is always allowed for the same list of words, and the files that it names as they were', async () => {
  const root = tempDir();
  const file = join(root, 'run.mjs');
  writeFileSync(file, 'console.log(1)');
  const shell = createShell({ root, env: {}, timeoutMs: 5_000 });
  const parts = await setupCalls({ ...asking, tools: [shell] });
  const run = (...argv: string[]) => parts.invoke('shell', { argv });
  const argv = ['node', 'run.mjs'];
  const first = await run(...argv);
  expect(first.card.always_rule).toMatchObject({ binding: 'exact' });
  const decide = (always: AlwaysTerms) =>
    parts.calls.decide(first.id, operator, { decision: 'always', always });
  for (const terms of [{}, { bound: bound({ name: 'argv', starts_with: ['node'] }) }]) {
    expect(await decide(terms)).toMatchObject({ ok: false, code: 'invalid_args' });
  }
  expect(await decide({ bound: exactly({ argv }) })).toMatchObject({ ok: true });
  const phases = [];
  for (const words of [argv, [...argv, '-x'], ['node']]) phases.push((await run(...words)).phase);
  writeFileSync(file, 'console.log(2)');
  phases.push((await run(...argv)).phase);
  expect(phases).toEqual(['granted', 'approval', 'approval', 'approval']);
});
