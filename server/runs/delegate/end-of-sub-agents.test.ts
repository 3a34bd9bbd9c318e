import { expect, test } from 'vitest';
import { childRunOf } from '#lib/protocol/child-run';
import type { Check } from '../../approvals/check.ts';
import { type Agent, FIRST_OPERATOR } from '../../auth/principal.ts';
import { createOwnerTokens } from '../testing/owner-tokens.ts';
import { delegate, helper, type Script, setupDelegation } from './testing/setup-delegation.ts';

const HOLD = { calls: [{ name: 'fx_hold', args: {} }] };
const FX = { calls: [{ name: 'fx_effect', args: { of: 'x' } }] };
const DONE = { text: 'Done.' };

/** The child makes these calls first; the parent delegates first. */
const first =
  (child: ReturnType<Script>): Script =>
  ({ model, index }) => {
    if (index > 0) return DONE;
    return model === 'boss' ? { calls: [delegate('helper')] } : child;
  };

type Made = Awaited<ReturnType<typeof setupDelegation>>;

/** The call of `delegate`, once its sub-agent's call runs. */
async function holding({ callsOf }: Made) {
  const isHeld = async () => (await callsOf('fx.hold')).map(({ status }) => status);
  await expect.poll(isHeld).toEqual(['RUNNING']);
  const [call] = await callsOf('delegate');
  if (!call) throw new Error('nothing was delegated');
  return { id: call.id, childId: childRunOf(call.id) };
}

async function expectChildEnded({ runs, callsOf }: Made, childId: string, status = 'cancelled') {
  await expect.poll(async () => (await runs.get(childId))?.status).toBe(status);
  const isOver = async () => (await callsOf('fx.hold')).map(({ error }) => error?.code);
  await expect.poll(isOver).toEqual(['cancelled']);
}

const asksAboutEffects: Check = ({ toolName }) =>
  toolName === 'fx.effect' ? { verdict: 'ask', reason: 'It has effects' } : { verdict: 'allow' };

test('[DE5] (T85) a sub-agent’s call with effects waits for a person, and runs after the yes', async () => {
  const questions: unknown[] = [];
  const check: Check = (request) => {
    questions.push([request.toolName, request.principal]);
    return asksAboutEffects(request);
  };
  const made = await setupDelegation({ script: first(FX), check });
  const runId = await made.start();
  const phase = async () => (await made.callsOf('fx.effect'))[0]?.phase;
  await expect.poll(phase).toBe('approval');
  expect(made.effects).toEqual([]);
  const [call] = await made.callsOf('fx.effect');
  await made.calls.decide(call?.id ?? '', FIRST_OPERATOR, { decision: 'yes' });
  expect((await made.ended(runId)).status).toBe('idle');
  expect(made.effects).toEqual(['x']);
  // The question is that of the run's owner.
  expect(questions.at(-1)).toEqual([
    'fx.effect',
    { kind: 'run', runId: call?.runId, owner: FIRST_OPERATOR },
  ]);
});

test('[DE5] what is always allowed in the run is asked about in its sub-agent', async () => {
  const script: Script = ({ model, index }) => {
    if (model !== 'boss') return index === 0 ? FX : DONE;
    return [FX, { calls: [delegate('helper')] }][index] ?? DONE;
  };
  const made = await setupDelegation({ script, check: asksAboutEffects });
  const runId = await made.start();
  const waiting = async () =>
    (await made.callsOf('fx.effect')).filter(({ phase }) => phase === 'approval');
  await expect.poll(async () => (await waiting()).length).toBe(1);
  const [own] = await waiting();
  await made.calls.decide(own?.id ?? '', FIRST_OPERATOR, { decision: 'always' });
  await expect.poll(async () => (await waiting()).map(({ depth }) => depth)).toEqual([1]);
  const [below] = await waiting();
  await made.calls.decide(below?.id ?? '', FIRST_OPERATOR, { decision: 'no', note: 'Not now' });
  await made.ended(runId);
  expect(made.effects).toHaveLength(1);
});

test('[DE8] E9: a cancelled turn takes its sub-agent and that one’s calls with it', async () => {
  const made = await setupDelegation({ script: first(HOLD) });
  const runId = await made.start();
  const { id, childId } = await holding(made);
  const asked = made.openai.requests.length;
  await made.runs.cancel(runId);
  await expectChildEnded(made, childId);
  expect(made.openai.requests).toHaveLength(asked);
  expect((await made.calls.wait(id, 30_000))?.error?.code).toBe('cancelled');
  expect((await made.runs.get(runId))?.status).toBe('cancelled');
});

test('[DE8] a cancelled call takes its sub-agent with it, and the turn goes on', async () => {
  const made = await setupDelegation({ script: first(HOLD) });
  const runId = await made.start();
  const { id, childId } = await holding(made);
  await made.calls.cancel(id, 'Enough', 'operator');
  await expectChildEnded(made, childId);
  expect((await made.ended(runId)).status).toBe('idle');
});

test('[DE10] a sub-agent that a person stops is a failed call, and the turn goes on', async () => {
  const made = await setupDelegation({ script: first(HOLD) });
  const runId = await made.start();
  const { id, childId } = await holding(made);
  await made.runs.cancel(childId);
  await expectChildEnded(made, childId);
  expect((await made.ended(runId)).status).toBe('idle');
  expect((await made.calls.get(id))?.error?.message).toBe('helper was stopped.');
});

const bot: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['delegate', 'fx.*'] };

test('[DE2] [DE8] a sub-agent is its owner’s, and ends with the owner’s token', async () => {
  const tokens = createOwnerTokens();
  tokens.add(bot);
  const made = await setupDelegation({ script: first(HOLD), tokens });
  const runId = await made.start('Go', { principal: bot });
  const { id, childId } = await holding(made);
  const owner = { name: 'agent:bot', token_id: 'tok_bot' };
  expect((await made.runs.get(childId))?.owner).toEqual(owner);
  expect((await made.callsOf('fx.hold'))[0]?.ownerToken).toBe('tok_bot');
  tokens.revoke('tok_bot');
  await expectChildEnded(made, childId, 'failed');
  expect((await made.ended(runId)).error?.code).toBe('owner_revoked');
  expect((await made.calls.wait(id, 30_000))?.error?.code).toBe('cancelled');
});

test('[DE3] a sub-agent has none of the tools that its owner’s token does not allow', async () => {
  const tokens = createOwnerTokens();
  tokens.add({ ...bot, tools: ['delegate', 'fx.hold'] });
  const made = await setupDelegation({ script: first(FX), tokens, agents: { helper } });
  await made.ended(await made.start('Go', { principal: { ...bot, tools: ['delegate'] } }));
  expect(made.openai.requests[1]?.toolNames).toEqual(['fx_hold']);
  expect(made.effects).toEqual([]);
});

test('[DE9] after a restart the child has ended, its call is interrupted, and the turn goes on', async () => {
  const before = await setupDelegation({ script: first(HOLD) });
  const runId = await before.start();
  const { id, childId } = await holding(before);
  await before.close();
  const after = await setupDelegation({ script: () => DONE, dir: before.dir });
  const run = await after.ended(runId);
  expect(run.status).toBe('idle');
  expect((await after.calls.get(id))?.error).toMatchObject({
    ...{ code: 'interrupted', executed: 'unknown' },
  });
  const child = await after.ended(childId);
  expect(child).toMatchObject({ status: 'cancelled', parent: { call_id: id } });
  const [held] = await after.callsOf('fx.hold');
  expect(JSON.stringify(child.messages)).toContain(held?.id);
  // Only the parent asked again.
  expect(after.openai.requests.map(({ body }) => body.model)).toEqual(['boss']);
  expect((await after.runs.list({ limit: 9 })).runs).toHaveLength(1);
});

test('[DE9] a call that waits for a person in a cut child is cancelled', async () => {
  const before = await setupDelegation({ script: first(FX), check: asksAboutEffects });
  const runId = await before.start();
  const code = async () => (await after.callsOf('fx.effect'))[0]?.error?.code;
  const isAsked = async () => (await before.callsOf('fx.effect'))[0]?.phase;
  await expect.poll(isAsked).toBe('approval');
  await before.close();
  const after = await setupDelegation({ script: () => DONE, dir: before.dir });
  await after.ended(runId);
  await expect.poll(code).toBe('cancelled');
  expect(after.effects).toEqual([]);
});
