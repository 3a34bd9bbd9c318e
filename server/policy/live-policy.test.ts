import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { policyDefinitionSchema } from '#lib/policy/policy-definition';
import { tempDir } from '#lib/testing/temp-dir';
import { type Agent, type Caller, FIRST_OPERATOR, type Principal } from '../auth/principal.ts';
import { operator, type SetupOptions, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import { readConfig, readFile } from '../main/config.ts';
import { registerTools } from '../tools/testing/register-tools.ts';
import { OF_CLIENTS } from '../tools/tool-provider.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import { openPolicy } from './open-policy.ts';
import { testAutonomy, testPolicy, testTokens } from './testing/test-policy.ts';

const READS = { annotations: { readOnlyHint: true } };
const bot: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['*', 'pay'] };

const anyArgs = () => ({ ok: true as const, args: {}, repairs: [] });

async function setup(
  policy: object,
  { check, denial } = testPolicy(policy),
  more: SetupOptions = {},
) {
  const one = await setupCalls({ check, denial, ...more });
  return one;
}

test('[PO34] [CA81] a call whose arguments were not all checked is allowed by none of them, and its card says so', async () => {
  const small = { effect: 'allow', args: [{ path: '/amount', less_than: 10 }] };
  const { connect, calls, invoke, cardOf, settle } = await setup({ rules: [small] });
  const of = (properties: object) => ({ parameters: { type: 'object', properties } });
  const amount = { type: 'number' };
  const till = connect('till');
  till.offer(
    tool('pay.whole', of({ amount })),
    tool('pay.partly', of({ amount, to: { pattern: '(?<=x)y' } })),
  );
  const whole = await invoke('pay.whole', { amount: 5 }, { principal: inRun });
  const { id } = await invoke('pay.partly', { amount: 5 }, { principal: inRun });
  await settle();
  expect(cardOf(whole.id)).toMatchObject({ phase: 'offered' });
  expect(cardOf(whole.id)).not.toHaveProperty('args_unchecked');
  expect(cardOf(id)).toMatchObject({
    ...{ phase: 'approval', args_unchecked: true, always_rule: { binding: 'never' } },
  });
  // Asked anew about a client whose schema is checked whole, the card takes it back.
  connect('kiosk').offer(tool('pay.partly', of({ amount })));
  till.leave();
  const yes = await calls.decide(id, operator, { decision: 'yes' });
  await settle();
  expect(yes).toMatchObject({ ok: false, code: 'conflict' });
  expect(cardOf(id)).toMatchObject({ phase: 'approval', args_unchecked: false });
  expect(cardOf(id)?.always_rule).not.toHaveProperty('binding');
});

test('[PO1] T85: a rule for an agent is for the runs that it starts, too', async () => {
  const rule = { effect: 'deny', callers: [{ name: 'bot' }], tools: ['pay'], reason: 'Not bot' };
  const { connect, invoke, calls } = await setup({ rules: [rule] });
  connect('till').offer(tool('pay'));
  const direct = await invoke('pay', {}, { principal: bot, runId: 'run_b' });
  const run: Principal = { kind: 'run', runId: 'run_b', owner: bot };
  const draft = await calls.draft({ principal: run, runId: 'run_b', tool: 'pay' });
  for (const call of [direct, await draft.complete({})]) {
    expect(call.error).toEqual({ code: 'denied', message: 'Not bot', executed: 'no' });
  }
  expect((await invoke('pay')).status).toBe('RUNNING');
});

test.each(['approved', 'confirm', 'force', 'user_approved', 'policy', '__approval', 'skipHooks'])(
  '[PO1] T69 T83: the argument %s of a model answers no question of the policy',
  async (key) => {
    const { connect, calls, call } = await setup({ ask: ['pay'] });
    const till = connect('till');
    till.offer(tool('pay'));
    const principal: Principal = { kind: 'run', runId: 'run_1', owner: operator };
    const draft = await calls.draft({ principal, runId: 'run_1', tool: 'pay' });
    const { id } = await draft.complete({ [key]: true });
    expect([(await call(id)).phase, till.requests()]).toEqual(['approval', []]);
  },
);

test('[CR10] a yes of the policy to one client of a pool does not go to another', async () => {
  const { connect, invoke, call, settle } = await setup({
    rules: [{ effect: 'deny', clients: ['kiosk'], tools: ['pay'] }],
  });
  const till = connect('till', { claims: true });
  till.offer(tool('pay'));
  const kiosk = connect('kiosk', { claims: true });
  kiosk.offer(tool('pay'));
  const { id } = await invoke('pay', {}, { fromClientId: 'till' });
  expect(till.requests()).toHaveLength(1);
  till.leave();
  await settle();
  expect(kiosk.requests()).toEqual([]);
  expect(await call(id)).toMatchObject({ phase: 'offered', provider: { clientId: 'till' } });
});

test('[CR10] nor is a tool run that has become one with effects since it was allowed', async () => {
  const { connect, invoke, call, settle } = await setup({
    rules: [{ effect: 'deny', access: 'write', tools: ['look'] }],
  });
  const phone = connect('phone', { claims: true });
  phone.offer(tool('look', READS));
  const { id } = await invoke('look', {}, { clientId: 'phone' });
  phone.leave();
  const again = connect('phone', { claims: true, instanceId: 'other' });
  again.offer(tool('look'));
  await settle();
  expect(again.requests()).toEqual([]);
  expect((await call(id)).phase).not.toBe('granted');
});

const inRun: Principal = { kind: 'run', runId: 'run_1', owner: operator };
const device: Principal = { kind: 'device', clientId: 'till', tokenId: 'tok_till' };
const asksFirst = {
  reason: 'pay is a client’s tool with effects, and no rule of the policy allows it',
  code: 'unknown_effects',
};

test.each<[string, Principal, 'ask' | 'allow']>([
  ['a run of a person', inRun, 'ask'],
  ['a run of an agent', { ...inRun, owner: bot }, 'ask'],
  ['an agent', bot, 'ask'],
  ['a device', device, 'ask'],
  ['a person', operator, 'allow'],
  ['a viewer', { ...operator, role: 'viewer' }, 'allow'],
])(
  '[PO25] T43: the verdict on a call of %s to a client’s tool with effects',
  async (_who, principal, verdict) => {
    const of = (annotations: object) => {
      const at = {
        origin: OF_CLIENTS,
        clientId: 'till',
        schemaHash: 'h',
        unchecked: undefined,
        check: anyArgs,
      };
      const tool = { ...at, annotations };
      return testPolicy().check({ principal, toolName: 'pay', args: {}, runId: 'run_1', tool });
    };
    expect(await of({})).toMatchObject(verdict === 'ask' ? { verdict, ...asksFirst } : { verdict });
    expect(await of(READS.annotations)).toMatchObject({ verdict: 'allow' });
  },
);

test('[PO25] what a run was asked about is allowed always, and a person who retries it is not asked', async () => {
  const { connect, calls, call, settle } = await setup({});
  const till = connect('till');
  till.offer(tool('pay'));
  const pay = async () => {
    const draft = await calls.draft({ principal: inRun, runId: 'run_1', tool: 'pay' });
    const { id } = await draft.complete({});
    await settle();
    return call(id);
  };
  const denied = await pay();
  expect(denied).toMatchObject({
    phase: 'approval',
    card: {
      ...{ approval_reason: asksFirst.reason, approval_reason_code: asksFirst.code },
      always_rule: { tool_name: 'pay', client_id: 'till' },
    },
  });
  await calls.decide(denied.id, operator, { decision: 'no' });
  const again = await calls.retry(denied.id, operator);
  expect(again).toMatchObject({ ok: true, call: { phase: 'offered' } });
  const { id } = await pay();
  await calls.decide(id, operator, { decision: 'always' });
  await settle();
  expect((await pay()).phase).toBe('offered');
});

/** A run's call of `look` is offered to the phone, which has only read so far. */
async function reading() {
  const one = await setup({});
  const phone = one.connect('phone', { claims: true });
  phone.offer(tool('look', READS));
  const draft = await one.calls.draft({ principal: inRun, runId: 'run_1', tool: 'look' });
  return { ...one, phone, draft };
}

test('[PO26] a read that was allowed goes to another client whose tool only reads', async () => {
  const { connect, phone, draft, settle } = await reading();
  const { id } = await draft.complete({});
  const tablet = connect('tablet', { claims: true });
  tablet.offer(tool('look', READS));
  phone.leave();
  await settle();
  expect(tablet.requests()).toMatchObject([{ id }]);
});

test('[PO26] [CR10] T43: it goes to none whose tool may have effects before a person was asked', async () => {
  const { connect, phone, draft, settle, calls, call, table } = await reading();
  table.update(phone.instanceId, { responsive: false });
  const { id } = await draft.complete({});
  const tablet = connect('tablet', { claims: true });
  tablet.offer(tool('look'));
  await settle();
  // Its own client may come back.
  expect([(await call(id)).phase, tablet.requests()]).toEqual(['queued', []]);
  phone.leave();
  await settle();
  expect([(await call(id)).phase, tablet.requests()]).toEqual(['approval', []]);
  await calls.decide(id, operator, { decision: 'yes' });
  await settle();
  expect(tablet.requests()).toMatchObject([{ id }]);
});

test('[PO26] [CR10] T43: nor is it run by its own client once that one’s tool may have effects', async () => {
  const { phone, draft, settle, call } = await reading();
  const { id } = await draft.complete({});
  expect(phone.requests()).toHaveLength(1);
  phone.offer(tool('look'));
  await settle();
  expect((await call(id)).error).toMatchObject({ code: 'denied', executed: 'no' });
  expect(await phone.claim(id, 1)).toMatchObject({ type: 'tool_call_refused' });
});

const AMOUNT = { properties: { amount: { type: 'number' } } };

test('[CA32] no yes of a person helps what is denied: edited, at another client, by the level', async () => {
  const live = testPolicy({
    ask: ['pay'],
    rules: [
      { name: 'much', effect: 'deny', args: [{ path: '/amount', equals: 1_000 }] },
      { effect: 'deny', clients: ['kiosk'], reason: 'Not at the kiosk' },
    ],
  });
  const { connect, calls, invoke, call } = await setup({}, live);
  const till = connect('till');
  till.offer(tool('pay', { parameters: { type: 'object', ...AMOUNT } }));
  const { id } = await invoke('pay', { amount: 5 });
  const edited = { decision: 'yes', args: { amount: 1_000 } } as const;
  expect(await calls.decide(id, operator, edited)).toMatchObject({
    ...{ ok: false, code: 'permission_denied' },
    message: 'The policy of this server denies pay',
  });
  await live.setAutonomy(operator, 'read_only', null);
  expect(await calls.decide(id, operator, { decision: 'yes' })).toMatchObject({
    ...{ ok: false, code: 'permission_denied' },
    message: expect.stringContaining('read_only'),
  });
  expect([(await call(id)).phase, till.requests()]).toEqual(['approval', []]);
  await live.setAutonomy(operator, 'supervised', null);
  expect(await calls.decide(id, operator, { decision: 'yes' })).toMatchObject({ ok: true });
  expect(till.requests()).toMatchObject([{ id, args: { amount: 5 } }]);

  const open = await invoke('pay', { amount: 5 });
  connect('kiosk').offer(tool('pay', { parameters: { type: 'object', ...AMOUNT } }));
  till.leave();
  const first = await calls.decide(open.id, operator, { decision: 'yes' });
  expect([first, await call(open.id)]).toMatchObject([
    { ok: false, code: 'conflict' },
    { phase: 'approval', routing: { approval: { clientId: 'kiosk' } } },
  ]);
  expect(await calls.decide(open.id, operator, { decision: 'yes' })).toMatchObject({
    ...{ ok: false, code: 'permission_denied', message: 'Not at the kiosk' },
  });
});

const alice: Agent = { kind: 'agent', name: 'alice', tokenId: 'tok_alice', tools: ['pay'] };
const olga: Caller = { ...FIRST_OPERATOR, name: 'olga', role: 'operator', tokenId: 'tok_olga' };

/** A call of alice's waits for a person; then the policy becomes `later`. */
async function waitingOfAlice() {
  const file: { now: object } = { now: { ask: ['pay'] } };
  const read = () => policyDefinitionSchema.parse(file.now);
  const live = testPolicy({}, { definition: read(), read });
  const tokens = new Map<string | null, Caller>([
    [null, FIRST_OPERATOR],
    ['tok_alice', alice],
    ['tok_olga', olga],
  ]);
  const callers = {
    callerOf: (id: string | null) => tokens.get(id),
    operatorNamed: (name: string) => (name === 'olga' && tokens.has('tok_olga') ? olga : undefined),
  };
  const one = await setup({}, live, { callers });
  one.connect('till').offer(tool('pay'));
  const become = (now: object) => {
    file.now = now;
    live.reload();
  };
  const yes = (id: string) => one.calls.decide(id, operator, { decision: 'yes' });
  return { ...one, become, yes, revoke: (id: string) => tokens.delete(id) };
}

const denies = (more: object) => ({ rules: [{ effect: 'deny', tools: ['pay'], ...more }] });

test('[CA32] a yes does not help what the policy denies to the caller of the call', async () => {
  const { invoke, become, yes, call } = await waitingOfAlice();
  const { id } = await invoke('pay', {}, { principal: alice, runId: 'run_a' });
  become(denies({ callers: [{ kind: 'agent', name: 'alice' }], reason: 'Not alice' }));
  expect(await yes(id)).toMatchObject({
    ...{ ok: false, code: 'permission_denied' },
    message: 'Not alice (agent:alice made the call)',
  });
  expect((await call(id)).phase).toBe('approval');
  become(denies({ callers: [{ name: 'bot' }] }));
  expect(await yes(id)).toMatchObject({ ok: true });
});

test('[CA32] the caller of a call in a run is who started it, by the way it was made', async () => {
  const { invoke, calls, become, yes } = await waitingOfAlice();
  const principal: Principal = { kind: 'run', runId: 'run_a', owner: alice };
  const draft = await calls.draft({ principal, runId: 'run_a', tool: 'pay' });
  const { id } = await draft.complete({});
  const direct = await invoke('pay', {}, { principal: alice, runId: 'run_a' });
  become(denies({ callers: [{ name: 'alice' }], via: ['run'] }));
  expect(await yes(id)).toMatchObject({ ok: false, code: 'permission_denied' });
  expect(await yes(direct.id)).toMatchObject({ ok: true });
  become(denies({ callers: [{ name: 'alice' }], via: ['http'] }));
  expect(await yes(id)).toMatchObject({ ok: true });
});

test('[CA32] a person who retries a call of an agent is the caller, not the agent', async () => {
  const { invoke, calls, become, yes } = await waitingOfAlice();
  const { id } = await invoke('pay', {}, { principal: alice, runId: 'run_a' });
  await calls.cancel(id, 'Over.', 'agent:alice');
  const retry = async (principal: Principal) => {
    const outcome = await calls.retry(id, principal);
    return outcome.ok ? outcome.call : { id: outcome.code };
  };
  const hers = await retry(olga);
  const first = await retry(operator);
  become(denies({ callers: [{ kind: 'operator', name: 'olga' }] }));
  expect(await yes(hers.id)).toMatchObject({ ok: false, code: 'permission_denied' });
  become(denies({ callers: [{ name: 'alice' }] }));
  expect(await yes(hers.id)).toMatchObject({ ok: true });
  expect(await yes(first.id)).toMatchObject({ ok: true });
});

test('[CA32] a yes to a call whose caller’s token was revoked is refused; a no is not', async () => {
  const { invoke, calls, yes, revoke, call } = await waitingOfAlice();
  const { id } = await invoke('pay', {}, { principal: alice, runId: 'run_a' });
  revoke('tok_alice');
  expect(await yes(id)).toMatchObject({
    ...{ ok: false, code: 'permission_denied' },
    message: expect.stringContaining('the token of its caller was revoked'),
  });
  expect((await call(id)).phase).toBe('approval');
  expect(await calls.decide(id, operator, { decision: 'no' })).toMatchObject({ ok: true });
});

const readPolicy = (file: string) => readFile(file).policy;

test('[PO7] a file that was never there is no problem', async () => {
  const dir = tempDir();
  const one = await setupCalls();
  const opened = await openPolicy(readConfig({}, dir), { ...one, tokens: testTokens, readPolicy });
  onTestFinished(() => opened.stop());
  opened.policy.reload();
  expect(opened.policy.state().problem).toBeNull();
  writeFileSync(join(dir, 'callboard.config.json'), '{"policy":{"deny":["door"]}}');
  opened.policy.reload();
  rmSync(join(dir, 'callboard.config.json'));
  opened.policy.reload();
  const { problem, policy } = opened.policy.state();
  expect([problem, policy.deny]).toEqual([expect.stringContaining('cannot be read'), ['door']]);
});

test('[PO24] a tool is denied to a run as a whole by the rules that look at no arguments', () => {
  const registry = new ToolRegistry({
    providers: [],
    availability: () => ({ name: '', visible: true, responsive: true, lastTouchedAt: 0 }),
  });
  registerTools(registry, { clientId: 'phone', instanceId: 'i1' }, [tool('mail.send')]);
  const denialOf = (
    policy: object,
    principal: Principal = { kind: 'run', runId: 'r', owner: bot },
  ) =>
    testPolicy(policy, { registry }).denialOf({
      principal,
      runId: 'r',
      name: 'mail.send',
      from: null,
    });
  const args = [{ path: '/to', equals: 'x' }];
  expect(denialOf({ deny: ['mail.*'] })).toMatchObject({ rule: 'deny.0' });
  expect(denialOf({ rules: [{ effect: 'deny', tools: ['mail.*'], args }] })).toBeUndefined();
  expect(denialOf({ ask: ['mail.*'] })).toBeUndefined();
  const forBot = { rules: [{ name: 'not bot', effect: 'deny', callers: [{ name: 'bot' }] }] };
  expect(denialOf(forBot)).toMatchObject({ rule: 'not bot' });
  expect(denialOf(forBot, operator)).toBeUndefined();
});

test.each<[string, (policy: ReturnType<typeof testPolicy>) => unknown]>([
  ['read_only', (policy) => policy.setAutonomy(operator, 'read_only', null)],
  ['a rule of a policy that was read since', (policy) => policy.reload()],
])('[PO10] %s denies a yes with no client of the tool, as with one', async (_what, tighten) => {
  const deny = { rules: [{ effect: 'deny', tools: ['pay'], access: 'write', source: 'client' }] };
  const policy = testPolicy(
    { ask: ['pay'] },
    { autonomy: testAutonomy(), read: () => policyDefinitionSchema.parse(deny) },
  );
  const { connect, invoke, calls, call, settle } = await setup({}, policy);
  const till = connect('till');
  till.offer(tool('pay'));
  const { id } = await invoke('pay', {}, { principal: bot, runId: 'run_b' });
  till.leave();
  await tighten(policy);
  const refused = { ok: false, code: 'permission_denied' };
  expect(await calls.decide(id, operator, { decision: 'yes' })).toMatchObject(refused);
  const again = connect('till', { instanceId: 'other' });
  again.offer(tool('pay'));
  await settle();
  expect([(await call(id)).phase, again.requests()]).toEqual(['approval', []]);
});

test('[PO1] a rule for MCP is for the calls that came over it, also when a person decides', async () => {
  const via = ['mcp'];
  const policy = testPolicy(
    { ask: ['pay'], limits: [{ name: 'two', calls: 2, seconds: 60, via }] },
    { read: () => policyDefinitionSchema.parse({ rules: [{ effect: 'deny', via }] }) },
  );
  const { connect, invoke, calls } = await setup({}, policy);
  connect('till').offer(tool('pay'));
  const by = (more: object) => invoke('pay', {}, { principal: bot, runId: 'run_b', ...more });
  const http = await by({});
  const mcp = await by({ via: 'mcp' });
  await by({ via: 'mcp' });
  await expect(by({ via: 'mcp' })).rejects.toThrow('rate_limited');
  policy.reload();
  const yes = { decision: 'yes' } as const;
  expect(await calls.decide(mcp.id, operator, yes)).toMatchObject({ code: 'permission_denied' });
  expect(await calls.decide(http.id, operator, yes)).toMatchObject({ ok: true });
});
