import { expect, test, vi } from 'vitest';
import { type ClientToolContext, ToolFailure } from '#lib/client/client-tool';
import { createDeviceMemory } from './device-memory.ts';
import { createDeviceStore, type Rule } from './device-store.ts';
import { gateTool } from './gate-tool.ts';
import { memoryStorage } from './testing/memory-storage.ts';

function setUp(rule: Rule | undefined, isVisible = true) {
  const store = createDeviceStore(createDeviceMemory(memoryStorage()), () => 1_000);
  if (rule) store.getState().setRule('photo', rule);
  const run = vi.fn(() => ({ output: 'a picture' }));
  const phases: string[] = [];
  const ended = new AbortController();
  const context: ClientToolContext = {
    callId: 'call_1',
    runId: 'run_1',
    requestedBy: 'agent:ci',
    signal: ended.signal,
    status() {},
    async askDevice(ask) {
      phases.push('device');
      return ask().finally(() => phases.push('granted'));
    },
  };
  const tool = { name: 'photo', description: 'Takes one', parameters: {}, run };
  const gated = gateTool(tool, { store, isVisible: () => isVisible, now: () => 5_000 });
  const answer = async () => gated.run({ facing: 'user' }, context);
  const decide = (isAllowed: boolean, reason = '') => {
    const [ask] = store.getState().asks;
    store.getState().decide(ask?.id ?? 0, { isAllowed, reason });
  };
  const outcomes = () => store.getState().uses.map(({ outcome }) => outcome);
  return { store, run, phases, ended, answer, decide, outcomes };
}

test.each([undefined, 'ask'] as const)(
  '[DP8] [DP9] with the rule %s it runs after the person has allowed it',
  async (rule) => {
    const { store, run, phases, answer, decide, outcomes } = setUp(rule);
    const answered = answer();
    expect(store.getState().asks).toMatchObject([
      { tool: 'photo', requestedBy: 'agent:ci', args: { facing: 'user' }, isHiddenRule: false },
    ]);
    expect([run.mock.calls.length, phases]).toEqual([0, ['device']]);
    decide(true);
    expect(await answered).toEqual({ output: 'a picture' });
    expect([phases, outcomes()]).toEqual([['device', 'granted'], ['done']]);
  },
);

test('[DP9] declined it fails with the reason, and the tool does not run', async () => {
  const { run, answer, decide, outcomes } = setUp('ask');
  const failed = answer().catch((error: unknown) => error);
  decide(false, 'not in a meeting');
  const failure = await failed;
  expect(failure).toBeInstanceOf(ToolFailure);
  expect(failure).toMatchObject({
    code: 'declined',
    message: 'The person at this device declined: not in a meeting.',
  });
  expect([run.mock.calls.length, outcomes()]).toEqual([0, ['declined']]);
});

test('[DP8] while the page is in front, `open` runs without asking; hidden it asks', async () => {
  const open = setUp('open');
  expect(await open.answer()).toEqual({ output: 'a picture' });
  expect(open.phases).toEqual([]);
  const hidden = setUp('open', false);
  const answered = hidden.answer();
  expect(hidden.store.getState().asks).toMatchObject([{ isHiddenRule: true }]);
  hidden.decide(true);
  expect(await answered).toEqual({ output: 'a picture' });
});

test('[DP8] a call that was on its way when its tool was switched off is declined', async () => {
  const { run, answer } = setUp('off');
  await expect(answer()).rejects.toMatchObject({ code: 'declined' });
  expect(run).not.toHaveBeenCalled();
});

test('[DP10] a question goes away with its call', async () => {
  const { store, run, ended, answer, outcomes } = setUp('ask');
  const failed = answer().catch((error: unknown) => error);
  ended.abort(new ToolFailure('cancelled', 'the operator'));
  expect(await failed).toMatchObject({ code: 'cancelled' });
  expect([store.getState().asks, run.mock.calls.length, outcomes()]).toEqual([
    [],
    0,
    ['cancelled'],
  ]);
});

test('[DP42] what runs is shown, and a stop ends it at once, also where the tool goes on', async () => {
  const { store, run, answer, outcomes } = setUp('open');
  run.mockImplementation(() => new Promise(() => {}) as never);
  const failed = answer().catch((error: unknown) => error);
  await vi.waitFor(() => expect(run).toHaveBeenCalled());
  const { running } = store.getState();
  expect(running).toMatchObject([{ callId: 'call_1', tool: 'photo', requestedBy: 'agent:ci' }]);
  running[0]?.stop();
  expect(await failed).toMatchObject({
    code: 'cancelled',
    message: 'The person at this device stopped it.',
  });
  expect([store.getState().running, outcomes()]).toEqual([[], ['cancelled']]);
});

test('[DP11] a tool that fails is among the uses as failed', async () => {
  const { run, answer, outcomes } = setUp('open');
  run.mockImplementation(() => {
    throw new Error('no lens');
  });
  await expect(answer()).rejects.toThrow('no lens');
  expect(outcomes()).toEqual(['failed']);
});
