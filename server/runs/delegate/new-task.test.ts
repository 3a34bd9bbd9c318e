import { expect, test } from 'vitest';
import { childRunOf } from '#lib/protocol/child-run';
import { type Script, setupDelegation } from './testing/setup-delegation.ts';

const newTask = (agentName: string, input = 'Count the gates') => ({
  name: 'new_task',
  args: { agentName, taskName: 'Counting', input },
});

test('[DE13] new_task is there where the configuration names it, and offers the same sub-agents as delegate', async () => {
  const without = await setupDelegation({ script: () => ({ text: 'Hi.' }) });
  await without.turn();
  expect(without.openai.requests[0]?.toolNames).not.toContain('new_task');
  const made = await setupDelegation({ script: () => ({ text: 'Hi.' }), hasNewTask: true });
  await made.turn();
  const [asked] = made.openai.requests;
  expect(asked?.toolNames).toEqual(expect.arrayContaining(['delegate', 'new_task']));
  expect(JSON.stringify(asked?.body)).toMatch(/"agentName":\{[^}]*"enum":\["helper"\]/);
});

test('[DE13] E8: it starts a child run with the message, is one card, and gives its end in the seed’s form', async () => {
  const script: Script = ({ model, index }) => {
    if (model !== 'boss') return { text: 'There are three.' };
    return index === 0 ? { calls: [newTask('helper')] } : { text: 'Three.' };
  };
  const made = await setupDelegation({ script, hasNewTask: true });
  await made.turn();
  const [call, ...others] = await made.callsOf('new_task');
  expect(others).toEqual([]);
  const childId = childRunOf(call?.id ?? '');
  expect(call).toMatchObject({
    status: 'SUCCEEDED',
    result: { success: true, summary: 'There are three.', subtaskId: childId, error: null },
  });
  const child = await made.runs.get(childId);
  expect(child?.messages[0]?.parts).toEqual([{ type: 'text', text: 'Count the gates' }]);
  expect(child?.parent).toMatchObject({ call_id: call?.id, agent: 'helper', depth: 1 });
});

test('[DE13] E9: a turn that is stopped while its task works asks no model any more', async () => {
  const script: Script = ({ model }) =>
    model === 'boss' ? { calls: [newTask('helper')] } : { calls: [{ name: 'fx_hold', args: {} }] };
  const made = await setupDelegation({ script, hasNewTask: true });
  const runId = await made.start();
  const isHeld = async () => (await made.callsOf('fx.hold')).map(({ status }) => status);
  await expect.poll(isHeld).toEqual(['RUNNING']);
  const asked = made.openai.requests.length;
  await made.runs.cancel(runId);
  expect((await made.ended(runId)).status).toBe('cancelled');
  const [call] = await made.callsOf('new_task');
  await expect
    .poll(async () => (await made.runs.get(childRunOf(call?.id ?? '')))?.status)
    .toBe('cancelled');
  expect(made.openai.requests.length).toBe(asked);
});
