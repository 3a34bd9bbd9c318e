import { expect, test, vi } from 'vitest';
import type { Call } from '#lib/call/call';
import type { Change, DeliveryRecord } from '../store/store.ts';
import { StoreFailedError } from '../store/store-errors.ts';
import { operator, setupCalls } from './testing/setup-calls.ts';

const delivery = ({ id, version }: Call): DeliveryRecord => ({
  ...{ id: `dlv_${id}_${version}`, target: 'webhook:ops', state: 'open', attempts: 0, madeAt: 1 },
  ...{ triedAt: null, nextAt: 1, endedAt: null, status: null, error: null },
  notice: {
    ...{ id: `evt_${version}`, type: 'client.offline', at: 1 },
    data: { client_id: 'c', name: 'c', kind: 'tab', since: 1, link: '/devices' },
  },
});

/** Calls that wait for a person, and announce each of their states. */
async function setup() {
  const written: string[] = [];
  const steps: string[] = [];
  const calls = await setupCalls({
    check: () => ({ verdict: 'ask', reason: 'why' }),
    announce(call, previous) {
      steps.push(`${previous?.phase ?? 'none'} > ${call.phase ?? call.status}`);
      const one = delivery(call);
      return {
        changes: [{ type: 'put_delivery', delivery: one }],
        written: () => void written.push(one.id),
      };
    },
  });
  return { ...calls, written, steps };
}

test('[OB3] what a decision announces is in the write of the decision, and reported once that is on disk', async () => {
  const { store, invoke, calls, written, steps } = await setup();
  const write = vi.spyOn(store, 'write');
  const { id } = await invoke('hold');
  const kindsOf = (changes: readonly Change[]) => changes.map(({ type }) => type);
  const [first] = write.mock.calls.filter(([changes]) => kindsOf(changes).includes('append_call'));
  expect(kindsOf(first?.[0] ?? [])).toContain('put_delivery');
  expect((await store.deliveries.open()).map((one) => one.id)).toEqual(written);
  expect(steps).toEqual(['none > approval']);
  await calls.decide(id, operator, { decision: 'no' });
  await expect.poll(() => steps.at(-1)).toBe('approval > FAILED');
  expect((await store.deliveries.open()).map((one) => one.id)).toEqual(written);
});

test('[OB3] nothing is announced by a write that is rejected', async () => {
  const { store, invoke, written, steps } = await setup();
  vi.spyOn(store, 'write').mockRejectedValue(new StoreFailedError('planted'));
  await expect(invoke('hold')).rejects.toThrow();
  expect([steps.length, written, await store.deliveries.open()]).toEqual([1, [], []]);
});
