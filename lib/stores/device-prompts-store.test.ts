import { expect, test } from 'vitest';
import { createDevicePromptsStore } from './device-prompts-store.ts';

const question = (tool: string, signal = new AbortController().signal) => ({
  callId: 'tc_1',
  tool,
  message: 'May I?',
  signal,
});

test('[SP1] questions wait in line and each is answered once', async () => {
  const store = createDevicePromptsStore();
  const first = store.getState().ask(question('camera.photo'));
  const second = store.getState().ask(question('clipboard.read'));
  const [one, two] = store.getState().waiting;
  expect([one?.tool, two?.tool]).toEqual(['camera.photo', 'clipboard.read']);
  store.getState().decide(one?.id ?? 0, 'allowed');
  store.getState().decide(one?.id ?? 0, 'denied');
  store.getState().decide(two?.id ?? 0, 'denied');
  expect(await Promise.all([first, second])).toEqual(['allowed', 'denied']);
  expect(store.getState().waiting).toEqual([]);
});

test('[SP2] a call that ends takes its question with it, as a no', async () => {
  const store = createDevicePromptsStore();
  const call = new AbortController();
  const asked = store.getState().ask(question('camera.photo', call.signal));
  call.abort();
  expect(await asked).toBe('denied');
  expect(store.getState().waiting).toEqual([]);
});

test('[SP2] a call that has ended already asks nothing', async () => {
  const store = createDevicePromptsStore();
  expect(await store.getState().ask(question('camera.photo', AbortSignal.abort()))).toBe('denied');
  expect(store.getState().waiting).toEqual([]);
});
