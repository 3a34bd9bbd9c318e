import { expect, test } from 'vitest';
import { type ExamineParts, examine } from './examine.ts';
import type { PairingApi } from './pairing-api.ts';

const WORKBENCH = { name: 'Lab', fingerprint: [1, 2, 3, 4] };
const NOW = Date.parse('Mon, 23 Nov 2026 10:00:00 GMT');

const answering =
  (state: 'approved' | 'revoked'): PairingApi['outcome'] =>
  async () => ({
    ok: true,
    value: { state, workbench: WORKBENCH },
  });

function parts(
  more: Partial<ExamineParts> & { outcome?: PairingApi['outcome'] } = {},
): ExamineParts {
  const refuse = async () =>
    ({ ok: false, problem: { code: 'unreachable', message: '' } }) as const;
  return {
    kept: { token: 't', name: 'n', workbench: WORKBENCH },
    api: { look: refuse, join: refuse, outcome: more.outcome ?? answering('approved') },
    device: {
      connection: { state: 'connected' },
      transport: 'stream',
      permissions: { 'camera.photo': 'denied', 'geolocation.get': 'prompt' },
    },
    isSecureContext: true,
    fetch: async () => new Response('', { headers: { date: new Date(NOW).toUTCString() } }),
    now: () => NOW,
    ...more,
  };
}

const states = async (given: ExamineParts) =>
  (await examine(given)).map(({ name, state, detail }) => [name, state, detail].join(' ').trim());

test('[DP15] each step is named with its state', async () => {
  expect(await states(parts())).toEqual([
    'secure ok',
    'server ok 0',
    'clock ok 1',
    'token ok',
    'line limited stream',
    'permission failed camera.photo',
    'permission ok geolocation.get',
  ]);
});

test('[DP15] a server that is not reached leaves what depends on it open', async () => {
  const broken = parts({
    isSecureContext: false,
    fetch: () => Promise.reject(new TypeError('Failed to fetch')),
    outcome: async () => ({ ok: false, problem: { code: 'unreachable', message: '' } }),
    device: { connection: { state: 'connecting' }, transport: null, permissions: {} },
  });
  expect(await states(broken)).toEqual([
    'secure failed',
    'server failed',
    'clock unsure',
    'token unsure',
    'line failed connecting',
  ]);
});

test('[DP15] a wrong clock and a revoked token are found', async () => {
  const found = await states(parts({ now: () => NOW + 300_000, outcome: answering('revoked') }));
  expect(found).toContain('clock failed 300');
  expect(found).toContain('token failed');
});
