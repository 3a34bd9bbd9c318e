// @vitest-environment happy-dom
import { act, render } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import en from '../../lib/i18n/messages/device/en.json';
import { DevicePageProvider } from './device-context.tsx';
import { createDeviceMemory } from './device-memory.ts';
import { createDeviceStore, type DeviceStore } from './device-store.ts';
import { createPairingApi } from './pairing-api.ts';
import { memoryStorage } from './testing/memory-storage.ts';
import { useAttention } from './use-attention.ts';

const vibrate = vi.fn(() => true);

beforeEach(() => {
  vi.useFakeTimers();
  vibrate.mockClear();
  Object.assign(navigator, { vibrate });
});
function Page({ store }: { store: DeviceStore }) {
  useAttention(store, 'Pixel 8');
  return null;
}

function setUp() {
  const memory = createDeviceMemory(memoryStorage());
  const store = createDeviceStore(memory);
  const api = createPairingApi(() => Promise.reject(new TypeError('no network')));
  const page = { texts: en, locale: 'en', memory, isKept: true, api } as const;
  render(
    <DevicePageProvider page={page}>
      <Page store={store} />
    </DevicePageProvider>,
  );
  const show = (isHidden: boolean) =>
    act(async () => {
      vi.spyOn(document, 'hidden', 'get').mockReturnValue(isHidden);
      document.dispatchEvent(new Event('visibilitychange'));
    });
  const ask = (callId: string) =>
    act(async () => {
      const { signal } = new AbortController();
      void store.getState().ask({ callId, tool: 'photo', requestedBy: 'operator', signal });
    });
  const second = () => act(async () => void (await vi.advanceTimersByTimeAsync(1_000)));
  /** Of this second and the next two. */
  const titles = async () => {
    const seen = [document.title];
    for (const _ of [1, 2]) {
      await second();
      seen.push(document.title);
    }
    return seen;
  };
  return { store, show, ask, titles };
}

const PLAIN = 'Pixel 8 · Callboard';
const HIDDEN = 'Hidden: Pixel 8 · Callboard';

test('[DP37] a hidden page says so in its title, and a shown one does not', async () => {
  const { show } = setUp();
  expect(document.title).toBe(PLAIN);
  await show(true);
  expect(document.title).toBe(HIDDEN);
  await show(false);
  expect(document.title).toBe(PLAIN);
});

test('[DP37] while a question waits on a hidden page the title alternates, until the question is answered', async () => {
  const { store, show, ask, titles } = setUp();
  await show(true);
  await ask('call_1');
  expect(await titles()).toEqual([en.ask.flash, HIDDEN, en.ask.flash]);
  await act(async () => store.getState().decide(1, { isAllowed: true, reason: '' }));
  expect(await titles()).toEqual([HIDDEN, HIDDEN, HIDDEN]);
});

test('[DP37] a page in front keeps its title while it asks', async () => {
  const { ask, titles } = setUp();
  await ask('call_1');
  expect(await titles()).toEqual([PLAIN, PLAIN, PLAIN]);
});

test('[DP37] the phone vibrates once for each question that is shown', async () => {
  const { store, ask, titles } = setUp();
  await ask('call_1');
  await ask('call_2');
  await titles();
  expect(vibrate).toHaveBeenCalledTimes(1);
  await act(async () => store.getState().decide(1, { isAllowed: false, reason: '' }));
  expect(vibrate).toHaveBeenCalledTimes(2);
});
