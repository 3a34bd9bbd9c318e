import { expect, test } from 'vitest';
import type { Outcome } from '#lib/protocol/device';
import { createDeviceMemory } from './device-memory.ts';
import type { PairingAnswer, PairingApi } from './pairing-api.ts';
import { createPairingStore } from './pairing-store.ts';
import { memoryStorage } from './testing/memory-storage.ts';

const WORKBENCH = { name: 'Lab', fingerprint: [1, 2, 3, 4] };
const LOOKED = { ok: true, value: { workbench: WORKBENCH, expires_at: 600 } } as const;
const LOST = { ok: false, problem: { code: 'unreachable', message: '' } } as const;

const outcomeOf = (state: Outcome['state']): PairingAnswer<Outcome> => ({
  ok: true,
  value: { state, workbench: WORKBENCH },
});

function setUp(api: Partial<PairingApi>) {
  const memory = createDeviceMemory(memoryStorage());
  const pauses: number[] = [];
  const store = createPairingStore(
    {
      memory,
      api: { look: async () => LOOKED, join: async () => LOST, outcome: async () => LOST, ...api },
      newToken: () => 'cb_device_new',
      hashOf: (token) => `hash of ${token}`,
      pause: async (ms) => void pauses.push(ms),
    },
    'abcd-2345',
  );
  const join = async () => {
    await store.getState().look();
    await store.getState().join({ name: 'Pocket', tools: [] });
  };
  return { store, memory, pauses, join };
}

test('[DP6] a request that never arrived can be sent again with the same code', async () => {
  const { store, memory, join } = setUp({ outcome: async () => outcomeOf('unknown') });
  await join();
  expect(store.getState().at).toMatchObject({
    ...{ step: 'offer', code: 'ABCD2345' },
    problem: { code: 'unreachable' },
  });
  expect(memory.asking()).toBeUndefined();
});

test('[DP6] the pauses between two questions grow, to 8 seconds at most', async () => {
  const answers = [LOST, LOST, LOST, LOST, LOST, outcomeOf('denied')];
  const { store, pauses, join } = setUp({ outcome: async () => answers.shift() ?? LOST });
  await join();
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 8_000]);
  expect(store.getState().at).toMatchObject({ step: 'ended', outcome: 'denied' });
});

test('[DP5] an earlier pairing is in force until a person has approved the new one', async () => {
  const earlier = { token: 'cb_device_old', name: 'Pocket', workbench: WORKBENCH };
  const denied = setUp({ outcome: async () => outcomeOf('denied') });
  denied.memory.keepDevice(earlier);
  await denied.join();
  expect(denied.memory.device()).toEqual(earlier);
  const approved = setUp({ outcome: async () => outcomeOf('approved') });
  approved.memory.keepDevice(earlier);
  await approved.join();
  expect(approved.memory.device()?.token).toBe('cb_device_new');
});

test('[DP4] only the hash of the token is sent', async () => {
  const sent: unknown[] = [];
  const { join } = setUp({
    join: async (body) => {
      sent.push(body);
      return LOOKED;
    },
    outcome: async () => outcomeOf('denied'),
  });
  await join();
  expect(sent).toEqual([
    {
      code: 'ABCD2345',
      token_hash: 'hash of cb_device_new',
      ...{ name: 'Pocket', kind: 'phone', tools: [] },
    },
  ]);
});
