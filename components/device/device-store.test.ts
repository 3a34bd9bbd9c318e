import { expect, test, vi } from 'vitest';
import { createDeviceMemory } from './device-memory.ts';
import { createPagePrompts } from './device-runtime.ts';
import { createDeviceStore, type Question, type Use } from './device-store.ts';
import { memoryStorage } from './testing/memory-storage.ts';

const question = (callId: string, more: Partial<Question> = {}): Question => ({
  ...{ callId, tool: 'photo', requestedBy: 'operator' },
  signal: new AbortController().signal,
  ...more,
});
const use = (at: number): Use => ({
  callId: `call_${at}`,
  tool: 'photo',
  at,
  ms: 5,
  outcome: 'done',
});

test('[DP10] questions wait in order, each with the time that the server gives it', async () => {
  const store = createDeviceStore(createDeviceMemory(memoryStorage()), () => 1_000);
  const { ask, decide } = store.getState();
  const answers = [ask(question('call_1')), ask(question('call_2'))];
  const [first, second] = store.getState().asks;
  expect([first?.callId, second?.callId, first?.endsAt]).toEqual(['call_1', 'call_2', 601_000]);
  decide(first?.id ?? 0, { isAllowed: true, reason: '' });
  expect(store.getState().asks.map(({ callId }) => callId)).toEqual(['call_2']);
  decide(second?.id ?? 0, { isAllowed: false, reason: 'no' });
  expect((await Promise.all(answers)).map(({ isAllowed }) => isAllowed)).toEqual([true, false]);
});

test('[DP10] a question of a call that has ended already is not shown', async () => {
  const store = createDeviceStore(createDeviceMemory(memoryStorage()));
  const asked = store.getState().ask(question('call_1', { signal: AbortSignal.abort() }));
  expect(store.getState().asks).toEqual([]);
  expect(await asked).toEqual({ isAllowed: false, reason: '' });
});

test('[DP41] what the server does not take is noted, until a person has decided on it', () => {
  const store = createDeviceStore(createDeviceMemory(memoryStorage()));
  const { noteAdmission } = store.getState();
  const codes = () =>
    Object.entries(store.getState().rejected).map(([name, { code }]) => [name, code]);
  const rejected = (name: string, code: string) => ({ name, code, message: '' });
  noteAdmission([rejected('photo', 'waits'), rejected('scan', 'waits')], []);
  noteAdmission([rejected('other', 'waits')], []);
  noteAdmission([rejected('scan', 'not_allowed')], ['photo', 'scan']);
  expect(codes()).toEqual([
    ['other', 'waits'],
    ['scan', 'not_allowed'],
  ]);
});

test('[DP11] [DP14] the last 20 uses and the rules are kept, until all is forgotten', () => {
  const storage = memoryStorage();
  const memory = createDeviceMemory(storage);
  const store = createDeviceStore(memory);
  for (let at = 0; at < 25; at += 1) store.getState().noteUse(use(at));
  store.getState().setRule('photo', 'off');
  const again = createDeviceStore(memory).getState();
  expect(again.uses.map(({ at }) => at)).toEqual(Array.from({ length: 20 }, (_, at) => 24 - at));
  expect(again.rules).toEqual({ photo: 'off' });
  memory.keepDevice({ token: 't', name: 'n', workbench: { name: 'w', fingerprint: [] } });
  memory.forget();
  expect([...storage.values]).toEqual([]);
});

test('[DP11] where the storage has no room, a use is listed as long as the page is open', () => {
  const setItem = () => {
    throw new DOMException('No room', 'QuotaExceededError');
  };
  const store = createDeviceStore(createDeviceMemory({ ...memoryStorage(), setItem }));
  store.getState().noteUse(use(1));
  expect(store.getState().uses).toHaveLength(1);
});

test('[DP11] what is no list of uses is none', () => {
  const storage = memoryStorage();
  storage.setItem('callboard:device:uses', '[{"callId":1}]');
  storage.setItem('callboard:device:rules', 'not JSON');
  const { uses, rules } = createDeviceStore(createDeviceMemory(storage)).getState();
  expect([uses, rules]).toEqual([[], {}]);
});

test('[DP19] a tool’s own question has the button and the text as its answer, or that it was closed', async () => {
  const store = createDeviceStore(createDeviceMemory(memoryStorage()));
  const prompts = createPagePrompts(store, async (id) => `/blobs/${id}`);
  const { signal } = new AbortController();
  const shown = { title: 'Lunch', text: 'Where?', buttons: ['Here', 'Out'], input: true };
  const prompt = { callId: 'call_1', tool: 'display.show', message: '', signal, ...shown };
  const answered = prompts.show({ ...prompt, image: { blobId: 'b1' } });
  await expect.poll(() => store.getState().asks).toHaveLength(1);
  const [ask] = store.getState().asks;
  expect(ask?.shown).toEqual({ ...shown, picture: '/blobs/b1' });
  store.getState().decide(ask?.id ?? 0, { isAllowed: true, reason: 'soon', button: 1 });
  expect(await answered).toEqual({ button: 1, text: 'soon' });
  const closed = prompts.show({ ...prompt, image: undefined });
  await expect.poll(() => store.getState().asks).toHaveLength(1);
  store.getState().decide(store.getState().asks[0]?.id ?? 0, { isAllowed: false, reason: '' });
  expect(await closed).toBe('closed');
});

test('[DP10] what a browser opens only inside a tap is opened inside the tap that allows', () => {
  const store = createDeviceStore(createDeviceMemory(memoryStorage()));
  const onAllow = vi.fn();
  void store.getState().ask(question('call_1', { onAllow }));
  store.getState().decide(store.getState().asks[0]?.id ?? 0, { isAllowed: true, reason: '' });
  // Not in a later turn: the gesture would be over.
  expect(onAllow).toHaveBeenCalledOnce();
});
