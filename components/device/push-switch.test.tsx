// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { sha256Hex } from '#lib/util/sha256';
import en from '../../lib/i18n/messages/device/en.json';
import { type StubbedBrowser, stubBrowser } from '../push/testing/stub-browser.ts';
import { DevicePageProvider } from './device-context.tsx';
import { createDeviceMemory } from './device-memory.ts';
import type { PairingApi } from './pairing-api.ts';
import { PushSwitch } from './push-switch.tsx';
import { memoryStorage } from './testing/memory-storage.ts';

const refuse = async () => ({ ok: false, problem: { code: 'unreachable', message: '' } }) as const;
const api: PairingApi = { look: refuse, join: refuse, outcome: refuse };
const kept = { token: 'cb_device_1', name: 'n', workbench: { name: 'Lab', fingerprint: [1] } };

async function setup(browser: StubbedBrowser = {}, storage = memoryStorage()) {
  const stubbed = stubBrowser({ key: new Uint8Array([4]), ...browser });
  const sent: string[] = [];
  let endpoint: string | null = null;
  vi.stubGlobal('fetch', async (path: string, { method, headers, body }: RequestInit) => {
    const { authorization } = headers as Record<string, string>;
    sent.push(`${method} ${path} ${authorization}`);
    if (method === 'POST' && !path.endsWith('test')) endpoint = JSON.parse(String(body)).endpoint;
    if (method === 'DELETE') endpoint = null;
    const hash = endpoint && sha256Hex(new TextEncoder().encode(endpoint));
    const own = {
      push_id: 'push_1',
      endpoint_sha256: hash,
      host: 'fcm.googleapis.com',
      last: null,
    };
    const state = { enabled: true, public_key: 'BA', subscriptions: hash ? [own] : [] };
    const tested = { outcome: 'failed', status: null, reason: 'unreachable' };
    return new Response(JSON.stringify(path.endsWith('test') ? tested : state));
  });
  const memory = createDeviceMemory(storage);
  const page = { texts: en, locale: 'en', memory, isKept: true, api } as const;
  await act(async () => {
    render(
      <DevicePageProvider page={page}>
        <PushSwitch kept={kept} />
      </DevicePageProvider>,
    );
  });
  return { stubbed, sent, storage };
}

const toggle = () => screen.getByRole('checkbox', { name: 'Notifications' }) as HTMLInputElement;
const press = (element: HTMLElement) => act(async () => element.click());

test('[WP23] the switch subscribes by the token of the device, tests, and ends it', async () => {
  const { sent, stubbed, storage } = await setup();
  await press(toggle());
  expect(toggle().checked).toBe(true);
  expect(sent).toContain('POST /internal/push/subscriptions Bearer cb_device_1');
  expect(stubbed.registered).toEqual([['/device/sw.js', { scope: '/device' }]]);
  expect(storage.getItem('callboard:device:push')).toBe('true');
  await press(screen.getByRole('button', { name: 'Send a test' }));
  expect(screen.getByRole('status').textContent).toContain(
    'could not hand a note to fcm.googleapis.com',
  );
  await press(toggle());
  expect(toggle().checked).toBe(false);
  expect(sent).toContain('DELETE /internal/push/subscriptions/push_1 Bearer cb_device_1');
  expect(stubbed.current()).toBeNull();
});

test('[WP23] each opening of the page registers a device whose notes are on anew', async () => {
  const storage = memoryStorage();
  storage.setItem('callboard:device:push', 'true');
  const { sent } = await setup({ endpoint: 'https://fcm.googleapis.com/new' }, storage);
  expect(sent).toContain('POST /internal/push/subscriptions Bearer cb_device_1');
});

test.each([
  [{ isSecure: false }, 'Notifications need https.'],
  [{ hasPush: false, userAgent: 'iPhone' }, 'Add to Home Screen'],
  [{ hasPush: false }, 'This browser cannot receive notifications'],
  [{ permission: 'denied' }, 'The browser blocks notifications'],
] as const)('[WP18] on a phone with %j the switch says why not', async (browser, words) => {
  await setup(browser);
  expect(toggle().disabled).toBe(true);
  expect(screen.getByRole('status').textContent).toContain(words);
});
