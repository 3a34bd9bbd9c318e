import { expect, test } from 'vitest';
import type { Agent } from '../auth/principal.ts';
import { setupCalls, tool } from './testing/setup-calls.ts';

const agent: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['pay'] };

test('[CA41] what waits in the name of a revoked token does not run any more', async () => {
  const { calls, connect, invoke, close } = await setupCalls();
  const till = connect('till', { claims: true });
  till.offer(tool('pay'));
  const waiting = await invoke('pay', {}, { principal: agent, runId: 'run_bot' });
  const other = await invoke('pay', {}, { runId: 'run_1' });
  await calls.ownerRevoked('tok_bot');
  expect(await calls.get(waiting.id)).toMatchObject({
    status: 'FAILED',
    error: { code: 'cancelled', executed: 'no' },
  });
  expect(await calls.get(other.id)).toMatchObject({ phase: 'offered', error: null });
  await close();
});

test('[CA42] arguments that a changed schema would have repaired go to no client', async () => {
  const { calls, connect, invoke, settle, close } = await setupCalls();
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
  await close();
});
