import { expect, test } from 'vitest';
import { compilePolicy } from '#lib/policy/decide-policy';
import { policyDefinitionSchema } from '#lib/policy/policy-definition';
import type { Agent, Principal } from '../auth/principal.ts';
import { operator, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import { RunTaints, TokenReads } from './taints.ts';
import { testPolicy, testTokens } from './testing/test-policy.ts';

const TOOLS = ['file.read', 'mail.read', 'mail.send', 'clipboard.read'];
const bot: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: TOOLS };
const inRunOf = (owner: Agent, runId: string): Principal => ({ kind: 'run', runId, owner });
const readOnly = { annotations: { readOnlyHint: true, openWorldHint: false } };
const HOUR_MS = 3_600_000;

const marks = compilePolicy(policyDefinitionSchema.parse({})).marks;

/** Programs that read at a phone, each in a run that it names. */
async function setup(dir?: string, setBackMs = 0) {
  const one = await setupCalls({
    ...(dir === undefined ? {} : { dir }),
    check: (request) => live.check(request),
    onDecided: (call) => live.forCalls.onDecided(call),
  });
  const taints = new RunTaints(one.store, marks);
  const reads = new TokenReads({ ...one, tokens: testTokens });
  one.clock.setWall(-setBackMs);
  await reads.load();
  const lists = { taints, reads, clock: one.clock, registry: one.registry };
  // Nothing else asks about a client's tool.
  const live = testPolicy({ unknown_effects: 'allow' }, lists);
  const phone = one.connect('phone');
  phone.offer(tool('file.read', readOnly), tool('mail.read', readOnly), tool('mail.send'));
  const call = async (name: string, runId: string, principal: Principal = bot) => {
    const { id } = await one.invoke(name, {}, { runId, principal });
    await one.settle();
    return one.call(id);
  };
  const read = async (name: string, runId: string, principal: Principal = bot) => {
    const { id } = await call(name, runId, principal);
    phone.succeed(id, 'CANARY');
    await one.settle();
  };
  return { ...one, live, reads, call, read };
}

test('[PO27] T98: what a program reads in one run it cannot carry out of another unasked', async () => {
  const { read, call } = await setup();
  await read('file.read', 'run_a');
  const out = await call('mail.send', 'run_b');
  expect(out).toMatchObject({
    ...{ phase: 'approval' },
    card: { approval_reason_params: { private: 'file.read', untrusted: 'file.read' } },
  });
});

test('[PO27] T98: so it is with what it reads in its own calls, and a run that it begins then', async () => {
  const { read, call, live } = await setup();
  await read('file.read', 'run_a');
  const inRun = inRunOf(bot, 'run_b');
  expect(await live.othersRead({ principal: inRun, runId: 'run_b' })).toBe('file.read');
  expect((await call('mail.send', 'run_c')).phase).toBe('approval');
});

test('[PO27] T98: another program, and a person, are not asked for what that one has read', async () => {
  const { read, call } = await setup();
  await read('file.read', 'run_a');
  const other = { ...bot, name: 'other', tokenId: 'tok_other' };
  expect((await call('mail.send', 'run_o', other)).phase).toBe('offered');
  expect((await call('mail.send', 'run_p', operator)).phase).toBe('offered');
});

test('[PO27] T98: it counts for an hour', async () => {
  const { read, call, clock } = await setup();
  await read('file.read', 'run_a');
  clock.advance(HOUR_MS - 1);
  expect((await call('mail.send', 'run_b')).phase).toBe('approval');
  clock.advance(1);
  expect((await call('mail.send', 'run_c')).phase).toBe('offered');
});

test('[PO27] T98: it counts over a restart, for no longer where the clock was set back', async () => {
  const before = await setup();
  await before.read('file.read', 'run_a');
  await before.close();
  const { call, clock } = await setup(before.dir, 10 * HOUR_MS);
  expect((await call('mail.send', 'run_b')).phase).toBe('approval');
  clock.advance(HOUR_MS);
  expect((await call('mail.send', 'run_c')).phase).toBe('offered');
});

test('[PO27] T98: what a person reads by hand in the run of a program, that one can read, too', async () => {
  const { read, reads, call, calls, connect, settle } = await setup();
  await read('mail.read', 'run_a');
  expect(reads.of('tok_bot')).toEqual({ private: null, untrusted: 'mail.read' });
  const tablet = connect('tablet', { claims: true });
  tablet.offer(tool('clipboard.read', readOnly));
  const { id } = await call('clipboard.read', 'run_a');
  await calls.cancel(id, 'Not yet', 'agent:bot');
  const retried = await calls.retry(id, operator);
  const byHand = retried.ok ? retried.call.id : '';
  await tablet.claim(byHand, 1);
  await tablet.succeed(byHand, 'CANARY', 1);
  await settle();
  expect(reads.of('tok_bot')).toMatchObject({ private: 'clipboard.read' });
  expect((await call('mail.send', 'run_b')).phase).toBe('approval');
});

test('[PO27] T98: what a client answers to a call that had ended before counts from then on', async () => {
  const { call, reads, calls, connect, settle } = await setup();
  const tablet = connect('tablet', { claims: true });
  tablet.offer(tool('clipboard.read', readOnly));
  const { id } = await call('clipboard.read', 'run_a');
  await calls.cancel(id, 'No', 'agent:bot');
  await settle();
  expect((await calls.get(id))?.error).toMatchObject({ code: 'cancelled', executed: 'no' });
  expect(reads.of('tok_bot').private).toBe(null);
  tablet.succeed(id, 'CANARY');
  await settle();
  expect((await calls.get(id))?.lateResult).toBe('CANARY');
  expect((await call('mail.send', 'run_b')).phase).toBe('approval');
  expect((await call('mail.send', 'run_a')).phase).toBe('approval');
});

test('[PO8] [PO27] T98: a dry run of a program’s call counts what the program has read', async () => {
  const { read, live } = await setup();
  await read('file.read', 'run_a');
  const asked = { tool: 'mail.send', args: {}, policy: undefined, via: 'http' } as const;
  const tried = (name: string, runId?: string) =>
    live.dryRun({ ...asked, runId, caller: { kind: 'agent', name } });
  const asks = { effect: 'ask', rule: 'taint' };
  expect(await tried('bot')).toMatchObject(asks);
  expect(await tried('bot', 'run_b')).toMatchObject(asks);
  expect(await tried('other')).toMatchObject({ effect: 'allow' });
});
