// @vitest-environment happy-dom
import { render } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import en from '../../lib/i18n/messages/device/en.json';
import { DevicePageProvider } from './device-context.tsx';
import { createDeviceMemory } from './device-memory.ts';
import { InstallHint } from './device-view.tsx';
import { createPairingApi } from './pairing-api.ts';
import { memoryStorage } from './testing/memory-storage.ts';

const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/17.5 Safari/605.1.15';

test.each([
  ['an iPad', MAC, 5, en.install.ios],
  ['a Mac', MAC, 0, ''],
])('[DP21] %s', (_name, userAgent, maxTouchPoints, hint) => {
  vi.stubGlobal('navigator', { userAgent, maxTouchPoints });
  const api = createPairingApi(() => Promise.reject(new TypeError('no network')));
  const memory = createDeviceMemory(memoryStorage());
  const page = { texts: en, locale: 'en', memory, isKept: true, api } as const;
  const { container } = render(
    <DevicePageProvider page={page}>
      <InstallHint />
    </DevicePageProvider>,
  );
  expect(container.textContent).toContain(hint);
  expect(container.textContent === '').toBe(hint === '');
});
