import { expect, test } from 'vitest';
import type { Agent } from '../auth/principal.ts';
import { setupCalls, tool } from './testing/setup-calls.ts';

const agent: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['pay'] };

test('[CA41] what waits in the name of a revoked token does not run any more', async () => {
  const { calls, connect, invoke } = await setupCalls();
  const till = connect('till', { claims: true });
  till.offer(tool('pay'));
  const waiting = await invoke('pay', {}, { principal: agent, runId: 'run_bot' });
  const other = await invoke('pay', {}, { runId: 'run_1' });
  await calls.ownerRevoked('tok_bot');
  expect(await calls.get(waiting.id)).toMatchObject({
    status: 'FAILED',
    error: { code: 'cancelled', executed: 'no' },
  });
  const kept = await calls.get(other.id);
  expect([kept?.phase, kept?.error]).toEqual(['offered', undefined]);
});

test('[CA42] arguments that a changed schema would have repaired go to no client', async () => {
  const { calls, connect, invoke, settle } = await setupCalls();
  const till = connect('till', { claims: true });
  const number = (type: string) =>
    tool('pay', { parameters: { type: 'object', properties: { amount: { type } } } });
  till.offer(number('string'));
  const { id } = await invoke('pay', { amount: '5' });
  till.leave();
  const back = connect('till', { claims: true, instanceId: 'back' });
  back.offer(number('integer'));
  await settle();
  const call = await calls.get(id);
  expect(back.requests()).toEqual([]);
  expect(call).toMatchObject({ status: 'FAILED', error: { code: 'invalid_args', executed: 'no' } });
});

test('[DV41] T25: what a client holds that never comes back ends at once, and the rest goes to others', async () => {
  const { calls, connect, registry, invoke, settle } = await setupCalls();
  const till = connect('till', { claims: true });
  till.offer(tool('pay'), tool('show'));
  const held = await invoke('pay');
  await till.claim(held.id, 1);
  const untaken = await invoke('show');
  const other = connect('other', { claims: true });
  other.offer(tool('show'));
  registry.drop('till-instance');
  calls.instances.revoked('till');
  await settle();
  expect(await calls.get(held.id)).toMatchObject({
    status: 'FAILED',
    error: {
      ...{ code: 'outcome_unknown', executed: 'unknown', reason: 'client_revoked' },
      message: 'The client was revoked while it had the call',
    },
  });
  expect(other.requests().map(({ id }) => id)).toEqual([untaken.id]);
});
