// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import en from '../../lib/i18n/messages/device/en.json';
import { DevicePageProvider } from './device-context.tsx';
import { createDeviceMemory } from './device-memory.ts';
import { createDeviceStore, type DeviceState } from './device-store.ts';
import { ExaminePanel } from './examine-panel.tsx';
import type { PairingApi } from './pairing-api.ts';
import { memoryStorage } from './testing/memory-storage.ts';

const WORKBENCH = { name: 'Lab', fingerprint: [1, 2, 3, 4] };
const refuse = async () => ({ ok: false, problem: { code: 'unreachable', message: '' } }) as const;

/** The step of that name, after a person has pressed Examine. */
async function examined(
  step: string,
  device: Partial<DeviceState>,
  isSecureContext = true,
): Promise<Element> {
  vi.stubGlobal('isSecureContext', isSecureContext);
  vi.stubGlobal('fetch', async () => new Response(''));
  const memory = createDeviceMemory(memoryStorage());
  const store = createDeviceStore(memory);
  store.setState(device);
  const approved = { ok: true, value: { state: 'approved', workbench: WORKBENCH } } as const;
  const api: PairingApi = { look: refuse, join: refuse, outcome: async () => approved };
  const page = { texts: en, locale: 'en', memory, isKept: true, api } as const;
  const kept = { token: 't', name: 'n', workbench: WORKBENCH };
  const { container } = render(
    <DevicePageProvider page={page}>
      <ExaminePanel kept={kept} store={store} />
    </DevicePageProvider>,
  );
  await act(async () => screen.getByRole('button', { name: 'Examine' }).click());
  const found = container.querySelector(`[data-step=${step}]`);
  if (!found) throw new Error(`there is no step ${step}`);
  return found;
}

const trustOf = (step: Element) => step.querySelector('a')?.getAttribute('href');

test('[DP34] a line by a stream works, and says that the WebSocket was refused and what mends it', async () => {
  const step = await examined('line', { connection: { state: 'connected' }, transport: 'stream' });
  expect(step.getAttribute('data-state')).toBe('limited');
  expect(step.textContent).toContain('by HTTP stream');
  expect(step.textContent).toContain('the WebSocket was refused');
  expect(trustOf(step)).toBe('/trust');
});

test('[DP34] a line by a WebSocket has nothing to mend', async () => {
  const step = await examined('line', { connection: { state: 'connected' }, transport: 'socket' });
  expect([step.getAttribute('data-state'), trustOf(step)]).toEqual(['ok', undefined]);
  expect(step.textContent).toContain('by WebSocket');
});

test.each([
  ['elsewhere', 'Use this tab'],
  ['disconnected', 'Connect again'],
  ['revoked', 'Pair again'],
  ['connecting', 'trust the certificate'],
] as const)('[DP34] a line that is %s says what mends it', async (state, words) => {
  const step = await examined('line', { connection: { state } });
  expect(step.getAttribute('data-state')).toBe('failed');
  expect(step.textContent).toContain(words);
});

test('[DP35] by http from another machine it names what cannot work, and why', async () => {
  const step = await examined('secure', {}, false);
  for (const words of ['opened by http', 'camera', 'position', 'clipboard', '--lan']) {
    expect(step.textContent).toContain(words);
  }
  expect(trustOf(step)).toBe('/trust');
});

test('[DP31] a permission is named by the tool’s name for people', async () => {
  const permissions = { 'camera.photo': 'denied' } as const;
  const step = await examined('permission', { permissions });
  expect(step.textContent).toContain('The browser allows Photo');
});
