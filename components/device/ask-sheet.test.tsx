// @vitest-environment happy-dom
import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import en from '../../lib/i18n/messages/device/en.json';
import { press } from '../tool-call/testing/in-workbench.tsx';
import { AskSheet } from './ask-sheet.tsx';
import { DevicePageProvider } from './device-context.tsx';
import { createDeviceMemory } from './device-memory.ts';
import { createDeviceStore, type Question } from './device-store.ts';
import { createPairingApi } from './pairing-api.ts';
import { memoryStorage } from './testing/memory-storage.ts';

beforeEach(() => vi.useFakeTimers());
function setUp() {
  const memory = createDeviceMemory(memoryStorage());
  const store = createDeviceStore(memory);
  const api = createPairingApi(() => Promise.reject(new TypeError('no network')));
  const page = { texts: en, locale: 'en', memory, isKept: true, api } as const;
  render(
    <DevicePageProvider page={page}>
      <AskSheet store={store} />
    </DevicePageProvider>,
  );
  const answers: unknown[] = [];
  const ask = (more: Partial<Question> = {}) =>
    act(async () => {
      const { signal } = new AbortController();
      const question = {
        callId: 'call_1',
        tool: 'photo',
        requestedBy: 'agent:ci',
        signal,
        ...more,
      };
      void store
        .getState()
        .ask(question)
        .then((answer) => answers.push(answer));
    });
  const wait = (ms: number) => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
  return { store, ask, wait, answers };
}

test('[DP10] without a connection a question says that the answer is sent later', async () => {
  const { store, ask } = setUp();
  const away = () => screen.queryByText(en.ask.away) !== null;
  await ask();
  expect(away()).toBe(false);
  const lost = { state: 'reconnecting', attempt: 1, retryAt: 0 } as const;
  await act(async () => store.setState({ connection: lost }));
  expect(away()).toBe(true);
  await act(async () => store.setState({ connection: { state: 'connected' } }));
  expect(away()).toBe(false);
});

test('[DP10] a tap in the first 300 ms decides nothing', async () => {
  const { ask, wait, answers } = setUp();
  await ask();
  await wait(299);
  await press('Allow once');
  expect(answers).toEqual([]);
  await wait(1);
  await press('Allow once');
  expect(answers).toEqual([{ isAllowed: true, reason: '' }]);
});

test('[DP10] one question is shown, with who asks, its arguments and how many wait', async () => {
  const { ask, wait } = setUp();
  await ask({ args: { facing: 'user', note: 'a\u202eb' } });
  await ask({ callId: 'call_2', tool: 'sound' });
  const region = screen.getByRole('region', { name: 'Question of a tool' });
  for (const text of ['Allow photo?', 'The agent ci asks.', 'facing', 'user', '1 more wait.']) {
    expect(region.textContent).toContain(text);
  }
  expect(region.textContent).toContain('You have set this tool to ask each time.');
  // A name that turns the text around is drawn as a mark.
  expect(region.textContent).toContain('a⟨U+202E⟩b');
  await wait(300);
  await press('Allow once');
  expect(screen.getByRole('region').textContent).toContain('Allow sound?');
});

test('[DP10] why it asks is shown: the page was hidden, or the tool has its own reason', async () => {
  const { ask, wait } = setUp();
  await ask({ args: {}, isHiddenRule: true });
  await ask({ callId: 'call_2', message: 'Open a page?', detail: 'https://shop.example' });
  expect(screen.getByRole('region').textContent).toContain('The page was hidden, so it asks.');
  await wait(300);
  await press('Allow once');
  const { textContent } = screen.getByRole('region');
  expect(textContent).toContain('Open a page?https://shop.example');
  expect(textContent).not.toContain('each time');
});

test('[DP9] declining takes a reason, and can be taken back', async () => {
  const { ask, wait, answers } = setUp();
  await ask();
  await wait(300);
  await press('Decline…');
  await press('Back');
  await wait(300);
  await press('Decline…');
  fireEvent.change(screen.getByRole('textbox'), { target: { value: ' not now ' } });
  await press('Decline');
  expect(answers).toEqual([{ isAllowed: false, reason: 'not now' }]);
});

test('[DP19] a tool’s own question is answered by its buttons and in writing', async () => {
  const { ask, wait, answers } = setUp();
  const shown = { title: 'Lunch', text: 'Where?', picture: undefined, buttons: ['In', 'Out'] };
  await ask({ shown: { ...shown, input: true } });
  fireEvent.change(screen.getByRole('textbox'), { target: { value: 'soon' } });
  await press('Out');
  expect(answers).toEqual([]);
  await wait(300);
  await press('Out');
  await ask({ shown: { ...shown, input: false } });
  await wait(300);
  await press('Close without an answer');
  expect(answers).toEqual([
    { isAllowed: true, reason: 'soon', button: 1 },
    { isAllowed: false, reason: '' },
  ]);
});
