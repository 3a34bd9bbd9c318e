import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { tempDir } from '#lib/testing/temp-dir';
import type { Principal } from '../auth/principal.ts';
import { operator, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import { ConfigError, readConfig } from '../main/config.ts';
import type { Hook } from './hook.ts';
import { HookChain } from './hook-chain.ts';
import { loadHooks } from './open-policy.ts';
import { testPolicy, testTokens } from './testing/test-policy.ts';

const MAIL = {
  name: 'mail.send',
  description: 'Sends a mail',
  parameters: {
    type: 'object',
    properties: { to: { type: 'string' }, copies: { type: 'integer' } },
    additionalProperties: false,
  },
};

const hook = (name: string, more: Partial<Hook>): Hook => ({
  ...{ name, module: `./${name}.mjs`, timeout_ms: 1_000, security: false },
  ...more,
});

async function setup(hooks: Hook[], policy: object = {}, isLive = (_tokenId: string) => true) {
  const one = await setupCalls({
    check: (request) => live.check(request),
    denial: (request) => live.denial(request),
    checkEdit: (request) => live.checkEdit(request),
    results: {
      isFor: (name) => chain.isFor(name),
      filter: (call, result) => chain.filter(call, result),
    },
  });
  const chain = new HookChain(hooks, one);
  const live = testPolicy(policy, {
    hooks: chain,
    clock: one.clock,
    tokens: { ...testTokens, isLive },
  });
  const phone = one.connect('phone');
  phone.offer(MAIL, tool('other'));
  const send = (args: object, more: object = {}) => one.invoke('mail.send', args, more);
  return { ...one, phone, send, live };
}

test('[PO14] people see the hooks in order, and of each how often it failed and why', async () => {
  const broken = hook('broken', {
    tools: ['mail.*'],
    before: () => {
      throw new Error('No such mail server');
    },
  });
  const { send, clock, live } = await setup([hook('first', { after: () => {} }), broken]);
  await send({ to: 'a' });
  await send({ to: 'b' });
  expect(live.state().hooks).toEqual([
    {
      ...{ name: 'first', module: './first.mjs', tools: null, timeout_ms: 1_000, security: false },
      ...{ before: false, after: true, failures: 0, last_failure: null },
    },
    {
      ...{ name: 'broken', module: './broken.mjs', tools: ['mail.*'], timeout_ms: 1_000 },
      ...{ security: false, before: true, after: false, failures: 2 },
      last_failure: { at: clock.now() / 1_000, message: 'No such mail server' },
    },
  ]);
});

test('[PO23] what is secret of the call is not in the failure of a hook', async () => {
  const broken = hook('broken', {
    before: (call) => {
      throw new Error(`Cannot read ${JSON.stringify(call)}`);
    },
  });
  const { invoke, connect, live, lines } = await setup([broken]);
  const properties = { password: { type: 'string', 'x-sensitive': true }, to: { type: 'string' } };
  connect('tablet').offer(tool('login', { parameters: { type: 'object', properties } }));
  const token = `ghp_${'a1B2'.repeat(9)}`;
  await invoke('login', { password: 'open "sesame" 7f3a', to: token });
  const given = JSON.stringify([lines, live.state().hooks]);
  expect(given).toContain('The hook broken failed');
  expect(given.match(/\[redacted:(?:argument|token)\]/g)).toHaveLength(4);
  expect(given).not.toMatch(/sesame|ghp_/);
});

test('[PO14] what a hook gives as undefined is as if it were not there', async () => {
  const sign = hook('sign', {
    security: true,
    before: () => ({ action: 'change', args: { to: 'b', copies: undefined }, reason: undefined }),
    after: () => ({ action: 'replace', output: { sent: [{ to: 'b', at: undefined }] } }),
  });
  const { send, phone, call, cardOf, live, settle } = await setup([sign]);
  const { id } = await send({ to: 'a', copies: 2 });
  await settle();
  expect(cardOf(id)?.hooks).toEqual([
    { name: 'sign', did: 'changed_arguments', keys: ['to', 'copies'] },
  ]);
  expect((await call(id)).args).toStrictEqual({ to: 'b' });
  phone.succeed(id, 'raw');
  await settle();
  expect((await call(id)).result).toStrictEqual({ sent: [{ to: 'b' }] });
  expect(live.state().hooks[0]?.failures).toBe(0);
});

test('[PO13] hooks are asked in order, each about what the ones before made of the call', async () => {
  const seen: unknown[] = [];
  const first = hook('first', {
    before: async (call) => {
      seen.push(call);
      return { action: 'change', args: { to: 'b', copies: '2' } };
    },
  });
  const second = hook('second', { before: (call) => void seen.push(call) });
  const { send, phone, call, cardOf, settle, store } = await setup([first, second]);
  const { id } = await send({ to: 'a' });
  await settle();
  expect(seen).toMatchObject([
    { tool_name: 'mail.send', args: { to: 'a' }, run_id: 'run_1', via: 'http', client_id: 'phone' },
    { args: { to: 'b', copies: 2 }, caller: { kind: 'operator', role: 'admin' } },
  ]);
  expect(phone.requests()).toMatchObject([{ id, args: { to: 'b', copies: 2 } }]);
  expect((await call(id)).args).toEqual({ to: 'b', copies: 2 });
  expect(cardOf(id)).toMatchObject({
    params: { to: 'b', copies: 2 },
    hooks: [{ name: 'first', did: 'changed_arguments', keys: ['to', 'copies'] }],
  });
  const events = await store.callEvents(id, { after: 0, limit: 10 });
  expect(events.map(({ type, actor }) => [type, actor])).toEqual([
    ['created', 'operator'],
    ['arguments_complete', 'hook:first'],
    ['offered', 'server'],
  ]);
});

test('[PO13] a hook asks or cancels with its reason, and what was always allowed is asked about', async () => {
  const asking = hook('asking', { before: () => ({ action: 'ask', reason: 'Look at it' }) });
  const { send, calls, cardOf, settle, call } = await setup([asking]);
  const { id } = await send({});
  await settle();
  expect(cardOf(id)).toMatchObject({
    ...{ phase: 'approval', approval_reason: 'Look at it' },
    hooks: [{ name: 'asking', did: 'asked' }],
  });
  expect(await calls.decide(id, operator, { decision: 'always' })).toMatchObject({ ok: false });
  await calls.decide(id, operator, { decision: 'yes' });
  expect((await call(id)).phase).toBe('offered');
  expect((await send({})).phase).toBe('approval');

  const cancelling = hook('cancelling', {
    before: () => ({ action: 'cancel', reason: 'Not now' }),
  });
  const other = await setup([cancelling]);
  const principal: Principal = { kind: 'run', runId: 'run_1', owner: operator };
  const draft = await other.calls.draft({ principal, runId: 'run_1', tool: 'mail.send' });
  for (const one of [await other.send({}), await draft.complete({})]) {
    expect(one.error).toEqual({ code: 'denied', message: 'Not now', executed: 'no' });
    expect(one.card.hooks).toEqual([{ name: 'cancelling', did: 'cancelled' }]);
  }
  expect(other.phone.requests()).toEqual([]);
});

test('[PO13] T71: the policy is asked about what a hook made of the arguments', async () => {
  const changing = hook('changing', { before: () => ({ action: 'change', args: { to: 'eve' } }) });
  const args = [{ path: '/to', equals: 'eve' }];
  const { send } = await setup([changing], { rules: [{ name: 'no eve', effect: 'deny', args }] });
  expect(await send({ to: 'ann' })).toMatchObject({
    error: { code: 'denied' },
    args: { to: 'eve' },
    card: { hooks: [{ did: 'changed_arguments', keys: ['to'] }] },
  });
});

test('[PO13] a hook changes nothing but by what it returns, and is for its tools alone', async () => {
  let asked = 0;
  const meddling = hook('meddling', {
    tools: ['mail.*'],
    before: (call) => {
      asked += 1;
      if (typeof call === 'object' && call && 'args' in call)
        Object.assign(call.args as object, { to: 'eve' });
    },
  });
  const { send, invoke, phone, call } = await setup([meddling]);
  const { id } = await send({ to: 'ann' });
  await invoke('other');
  expect([asked, (await call(id)).args, (await call(id)).card.hooks]).toEqual([
    1,
    { to: 'ann' },
    undefined,
  ]);
  expect(phone.requests().map(({ args }) => args)).toEqual([{ to: 'ann' }, {}]);
});

const BROKEN: [string, () => unknown][] = [
  ['throws', () => Promise.reject(new Error('broken'))],
  ['returns nonsense', () => ({ action: 'alow' })],
  ['makes arguments that do not fit', () => ({ action: 'change', args: { copies: 'many' } })],
];

test.each(BROKEN)(
  '[PO14] of a security hook that %s no call is made; another is passed by',
  async (_, before) => {
    const guard = await setup([hook('guard', { before, security: true })]);
    const refused = await guard.send({});
    expect(refused.error).toMatchObject({ code: 'denied', executed: 'no' });
    expect(refused.error?.message).toContain('security hook "guard" failed');
    expect(refused.card.hooks).toEqual([{ name: 'guard', did: 'failed' }]);
    const plain = await setup([hook('plain', { before })]);
    expect(await plain.send({})).toMatchObject({ phase: 'offered' });
  },
);

test('[PO14] a hook that takes too long has failed, and what it returns later is not looked at', async () => {
  const late = Promise.withResolvers<unknown>();
  const before = () => late.promise;
  const { send, clock, calls, phone } = await setup([hook('slow', { before, security: true })]);
  const sending = send({});
  await expect
    .poll(() => {
      clock.advance(1_000);
      return Promise.race([sending, 'waiting']);
    })
    .not.toBe('waiting');
  late.resolve({ action: 'continue' });
  expect((await sending).error?.message).toContain('security hook "slow" failed');
  expect([calls.watched().length, phone.requests()]).toEqual([1, []]);
});

const redact = hook('redact', {
  after: (_call, result) => {
    const text = JSON.stringify(result);
    if (!text.includes('secret')) return undefined;
    return text.startsWith('{"ok":true')
      ? { action: 'replace', output: 'redacted' }
      : { action: 'replace', message: 'redacted' };
  },
});

test('[PO15] what a tool gave is replaced before it is stored, shown or answered', async () => {
  const { send, phone, call, cardOf, settle, store, invoke } = await setup([redact]);
  const { id } = await send({});
  expect(await phone.show(id, 'my secret', 'a secret display')).toMatchObject({
    disposition: 'accepted',
  });
  expect(await call(id)).toMatchObject({ status: 'SUCCEEDED', result: 'redacted' });
  const failing = await send({});
  await phone.fail(failing.id, 'a secret reason');
  await settle();
  expect(cardOf(id)?.hooks).toEqual([{ name: 'redact', did: 'changed_result' }]);
  const kept = [
    ...[await store.getCall(id), await store.getCall(failing.id)],
    ...(await store.callEvents(id, { after: 0, limit: 20 })),
    ...[cardOf(id), cardOf(failing.id)],
  ];
  expect(JSON.stringify(kept)).not.toContain('secret');
  // The same answer again is the same answer.
  expect(await phone.show(id, 'my secret', 'a secret display')).toMatchObject({
    disposition: 'duplicate',
  });
  const plain = await invoke('other');
  await phone.succeed(plain.id, 'as it is');
  expect(await call(plain.id)).toMatchObject({ result: 'as it is' });
});

test('[PO15] so is what a tool of the server gave', async () => {
  const replace = hook('replace', { after: () => ({ action: 'replace', output: { n: 1 } }) });
  const { invoke, call, releaseAll, started } = await setup([replace]);
  const { id } = await invoke('hold');
  await expect.poll(started).toBe(1);
  releaseAll();
  await expect.poll(async () => (await call(id)).status).toBe('SUCCEEDED');
  expect(await call(id)).toMatchObject({
    result: { n: 1 },
    card: { hooks: [{ name: 'replace' }] },
  });
});

test('[PO15] when a security hook fails, no result is used; a late one is looked at, too', async () => {
  const after = () => Promise.reject(new Error('broken'));
  const { send, phone, call } = await setup([hook('guard', { after, security: true })]);
  const { id } = await send({});
  await phone.succeed(id, 'my secret');
  expect(JSON.stringify(await call(id))).not.toContain('my secret');
  expect(await call(id)).toMatchObject({
    status: 'FAILED',
    error: { code: 'result_invalid', executed: 'yes' },
  });
  const plain = await setup([hook('plain', { after })]);
  const open = await plain.send({});
  await plain.phone.succeed(open.id, 'as it is');
  expect(await plain.call(open.id)).toMatchObject({ result: 'as it is' });

  const late = await setup([redact]);
  const ended = await late.send({});
  await late.calls.answer(ended.id, operator, 'by hand');
  await late.phone.succeed(ended.id, 'a secret that comes late');
  expect(JSON.stringify(await late.store.getCall(ended.id))).not.toContain('secret');
});

test('[PO15] of two answers at once, both looked at, one counts', async () => {
  const { send, phone, call } = await setup([redact]);
  const { id } = await send({});
  const both = await Promise.all([phone.succeed(id, 'one'), phone.succeed(id, 'two')]);
  expect(both.map(({ type }) => type).toSorted()).toEqual([
    'result_acknowledged',
    'result_rejected',
  ]);
  const again = (await send({})).id;
  const same = await Promise.all([phone.succeed(again, 'one'), phone.succeed(again, 'one')]);
  expect(same).toMatchObject([{ disposition: 'accepted' }, { disposition: 'duplicate' }]);
  expect((await call(id)).status).toBe('SUCCEEDED');
});

test('[PO14] modules are loaded from beside the file, and one that cannot be used stops the start', async () => {
  const dir = tempDir();
  const write = (name: string, text: string) => writeFileSync(join(dir, name), text);
  write('good.mjs', "export const before_tool_call = () => ({ action: 'continue' });");
  write('empty.mjs', 'export const other = 1;');
  const load = (hooks: object) => {
    write('callboard.config.json', JSON.stringify({ hooks }));
    return loadHooks(readConfig({}, dir));
  };
  expect(await load([{ module: './good.mjs', security: true }])).toMatchObject([
    { name: 'good', security: true, timeout_ms: 2_000, before: expect.any(Function) },
  ]);
  await expect(load([{ module: 'empty.mjs' }])).rejects.toThrow(ConfigError);
  await expect(load([{ module: 'empty.mjs' }])).rejects.toThrow(/empty\.mjs.*exports neither/);
  await expect(load([{ module: './none.mjs' }])).rejects.toThrow(/none\.mjs.* cannot be used/);
  expect(() => load([{ module: 'a', timeout_ms: 1 }])).toThrow(
    /hooks\.0\.timeout_ms is the number 1/,
  );
});

test('[PO13] [PO15] the modules on the page on hooks do what it says', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/hooks.md'), 'utf8');
  const dir = tempDir();
  const blocks = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  blocks.forEach((text, at) => {
    writeFileSync(join(dir, `${at}.mjs`), text);
  });
  const hooks = blocks.map((_, at) => ({ module: `${at}.mjs`, security: true }));
  writeFileSync(join(dir, 'callboard.config.json'), JSON.stringify({ hooks }));
  const loaded = await loadHooks(readConfig({}, dir));
  const before = await setup(loaded.filter((one) => one.before));
  before.phone.offer(tool('mail.to'));
  const people = (count: number) => Array.from({ length: count }, () => 'ann@corp.example');
  const send = (to: string[]) => before.invoke('mail.to', { to, text: 'Hello' });
  expect(await send(people(2))).toMatchObject({ args: { text: 'Hello\n\nSent by an agent' } });
  expect(await send(people(11))).toMatchObject({ card: { approval_reason: 'To 11 people' } });
  expect((await send(['eve@evil.example'])).error?.message).toBe(
    'Mails go to our own people alone',
  );
  const after = await setup(loaded.filter((one) => one.after));
  const key = `hk-${'a1'.repeat(12)}`;
  for (const output of ['nothing', { key }]) {
    const { id } = await after.send({});
    await after.phone.show(id, output, 'shown');
    const { result } = await after.call(id);
    expect(result).toEqual(output === 'nothing' ? output : { key: 'hk-…' });
  }
  const { id } = await after.send({});
  await after.phone.fail(id, `no ${key}`);
  expect((await after.call(id)).error?.message).toBe('no hk-…');
});

const clientSchema = z.object({ client_id: z.string() });
const mailSchema = z.object({ args: z.object({ to: z.string().optional() }) });

test('[PO17] a hook is asked about arguments that a person edited, and what it makes of them runs', async () => {
  const seen: unknown[] = [];
  const before: Hook['before'] = (given) => {
    const { args } = mailSchema.parse(given);
    seen.push(args);
    if (args.to === 'evil') return { action: 'cancel', reason: 'Never to evil' };
    if (args.to === 'a') return { action: 'ask', reason: 'Look at it' };
    return { action: 'change', args: { ...args, copies: 1 } };
  };
  const { send, calls, call, phone, settle, cardOf } = await setup([hook('guard', { before })]);
  const { id } = await send({ to: 'a' });
  const edit = (args: object) => calls.decide(id, operator, { decision: 'yes', args });
  expect(await edit({ to: 'evil' })).toMatchObject({
    ok: false,
    code: 'permission_denied',
    message: 'Never to evil',
  });
  expect((await call(id)).phase).toBe('approval');
  expect(await edit({ to: 'b' })).toMatchObject({ ok: true });
  expect(seen).toEqual([{ to: 'a' }, { to: 'evil' }, { to: 'b' }]);
  await settle();
  expect(phone.requests()).toMatchObject([{ id, args: { to: 'b', copies: 1 } }]);
  expect(cardOf(id)).toMatchObject({
    params: { to: 'b', copies: 1 },
    hooks: [
      { name: 'guard', did: 'asked' },
      { name: 'guard', did: 'changed_arguments', keys: ['copies'] },
    ],
  });
});

test('[PO17] an edit is asked about while the client that was asked for is away, too', async () => {
  const before: Hook['before'] = (given) =>
    mailSchema.parse(given).args.to === 'evil'
      ? { action: 'cancel', reason: 'Never to evil' }
      : { action: 'ask', reason: 'Look at it' };
  const { send, calls, call, connect, phone } = await setup([hook('guard', { before })]);
  const { id } = await send({ to: 'a' });
  phone.leave();
  connect('tablet').offer(MAIL);
  const edited = await calls.decide(id, operator, { decision: 'yes', args: { to: 'evil' } });
  expect(edited).toMatchObject({ code: 'permission_denied', message: 'Never to evil' });
  expect(await call(id)).toMatchObject({ phase: 'approval', args: { to: 'a' } });
});

test('[PO17] what a hook makes of an edit is denied by the policy, and a decision meanwhile stands', async () => {
  let answer = () => {};
  const before: Hook['before'] = async (given) => {
    const { to } = mailSchema.parse(given).args;
    if (to === undefined) return { action: 'ask', reason: 'Look at it' };
    if (to === 'slow') await new Promise<void>((resolve) => (answer = resolve));
    return { action: 'change', args: { to: `${to}!` } };
  };
  const deny = {
    rules: [
      { name: 'no', tools: ['mail.send'], args: [{ path: '/to', equals: 'x!' }], effect: 'deny' },
    ],
  };
  const { send, calls, call } = await setup([hook('guard', { before })], deny);
  const { id } = await send({});
  const edit = (to: string) => calls.decide(id, operator, { decision: 'yes', args: { to } });
  expect(await edit('x')).toMatchObject({ ok: false, code: 'permission_denied' });
  const slow = edit('slow');
  await calls.decide(id, operator, { decision: 'no' });
  answer();
  expect(await slow).toMatchObject({ ok: false, code: 'already_final' });
  expect((await call(id)).error).toMatchObject({ code: 'denied' });
});

test('[PO21] [AU33] a token that is revoked while hooks are asked makes no call any more', async () => {
  const gates: (() => void)[] = [];
  const before = () => new Promise<void>((resolve) => gates.push(resolve));
  const revoked = new Set<string>();
  const isLive = (tokenId: string) => !revoked.has(tokenId);
  const one = await setup([hook('slow', { before, tools: ['mail.*'] })], {}, isLive);
  const bot = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['mail.send'] } as const;
  const direct = one.send({}, { principal: bot, runId: 'run_b' });
  const run = { kind: 'run', runId: 'run_b', owner: bot } as const;
  const draft = await one.calls.draft({ principal: run, runId: 'run_b', tool: 'mail.send' });
  const written = draft.complete({ to: 'a' });
  await expect.poll(() => gates.length).toBe(2);
  revoked.add('tok_bot');
  for (const open of gates) open();
  for (const made of [await direct, await written]) {
    expect(made.error).toMatchObject({ code: 'denied', executed: 'no' });
    expect(made.error?.message).toContain('was revoked');
  }
  expect(one.phone.requests()).toEqual([]);
});

test('[PO21] [AU33] nor does the yes of a person whose token is revoked while hooks look at an edit', async () => {
  const gates: (() => void)[] = [];
  const before: Hook['before'] = (given) =>
    mailSchema.parse(given).args.to === undefined
      ? { action: 'ask', reason: 'Look at it' }
      : new Promise<void>((resolve) => gates.push(resolve));
  const revoked = new Set<string>();
  const isLive = (tokenId: string) => !revoked.has(tokenId);
  const one = await setup([hook('slow', { before })], {}, isLive);
  const { id } = await one.send({});
  const olga = { ...operator, name: 'olga', tokenId: 'tok_olga' };
  const deciding = one.calls.decide(id, olga, { decision: 'yes', args: { to: 'b' } });
  await expect.poll(() => gates.length).toBe(1);
  revoked.add('tok_olga');
  for (const open of gates) open();
  expect(await deciding).toMatchObject({ ok: false, code: 'permission_denied' });
  expect((await one.call(id)).phase).toBe('approval');
});

test.each([
  [true, []],
  [false, [{ args: { to: 'a' } }]],
])('[PO22] what a hook lets through (security: %s) goes elsewhere as %j', async (security, to) => {
  const before: Hook['before'] = (given) =>
    clientSchema.parse(given).client_id === 'kiosk'
      ? { action: 'cancel', reason: 'Not at the kiosk' }
      : undefined;
  const one = await setup([hook('guard', { before, security })]);
  const till = one.connect('till', { claims: true });
  till.offer(MAIL);
  const kiosk = one.connect('kiosk', { claims: true });
  kiosk.offer(MAIL);
  one.phone.leave();
  await one.send({ to: 'a' }, { fromClientId: 'till' });
  expect(till.requests()).toHaveLength(1);
  till.leave();
  await one.settle();
  expect(kiosk.requests()).toMatchObject(to);
});

test('[PO13] a reason of any length counts, and is cut', async () => {
  const reason = `No: ${'x'.repeat(5_000)}`;
  const cancels = hook('cancels', { before: () => ({ action: 'cancel', reason }) });
  const { send, phone } = await setup([cancels]);
  const { error } = await send({ to: 'a' });
  expect(error).toMatchObject({ code: 'denied', message: reason.slice(0, 2_000) });
  expect(phone.requests()).toEqual([]);
});

test('[PO13] a call that a rule and two hooks ask about has each reason on its card', async () => {
  const asks = (name: string) => hook(name, { before: () => ({ action: 'ask', reason: name }) });
  const rule = { effect: 'ask', tools: ['mail.send'], reason: 'It leaves the house' };
  const hooks = [asks('Many people'), asks('At night')];
  const { send, cardOf, settle } = await setup(hooks, { rules: [rule] });
  const { id } = await send({ to: 'a' });
  await settle();
  expect(cardOf(id)).toMatchObject({
    ...{ phase: 'approval', always_rule: null },
    approval_reason: 'Many people. At night. It leaves the house',
    approval_reasons: [
      { code: 'hook', text: 'Many people' },
      { code: 'hook', text: 'At night' },
      { code: 'rule', text: 'It leaves the house' },
    ],
  });
});
