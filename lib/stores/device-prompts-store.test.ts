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

test('[SP60] what a touch begins has begun before the click is over, and a no begins nothing', async () => {
  const store = createDevicePromptsStore();
  const begun: string[] = [];
  const ask = (tool: string) =>
    store.getState().ask({ ...question(tool), onAllow: () => void begun.push(tool) });
  const answers = [ask('file.pick'), ask('share.send')];
  const [first, second] = store.getState().waiting;
  store.getState().decide(first?.id ?? 0, 'allowed');
  expect(begun).toEqual(['file.pick']);
  store.getState().decide(first?.id ?? 0, 'allowed');
  store.getState().decide(second?.id ?? 0, 'denied');
  expect(await Promise.all(answers)).toEqual(['allowed', 'denied']);
  expect(begun).toEqual(['file.pick']);
});

const shown = (signal = new AbortController().signal) => ({
  ...question('display.show', signal),
  ...{ title: 'Lunch?', text: undefined, image: undefined, buttons: ['Yes', 'No'], input: false },
});

test('[SP61] a question is answered once, with the button that was chosen', async () => {
  const store = createDevicePromptsStore();
  const asked = store.getState().show(shown());
  const [one] = store.getState().waiting;
  expect(one).toMatchObject({ kind: 'question', title: 'Lunch?', buttons: ['Yes', 'No'] });
  store.getState().answer(one?.id ?? 0, { button: 1, text: '' });
  store.getState().answer(one?.id ?? 0, 'closed');
  expect(await asked).toEqual({ button: 1, text: '' });
  expect(store.getState().waiting).toEqual([]);
});

test('[SP61] a call that ends closes its question', async () => {
  const store = createDevicePromptsStore();
  const call = new AbortController();
  const asked = store.getState().show(shown(call.signal));
  call.abort();
  expect(await asked).toBe('closed');
  expect(store.getState().waiting).toEqual([]);
});
