import { expect, test } from 'vitest';
import type { DeliveryRecord } from './store.ts';
import type { Setup } from './testing/store-setup.ts';

const delivery = (id: string, more: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  ...{ id, target: 'webhook:ops', state: 'open', attempts: 0, madeAt: 1, triedAt: null },
  ...{ nextAt: 1, endedAt: null, status: null, error: null },
  notice: {
    ...{ id: `evt_${id}`, type: 'client.offline', at: 1 },
    data: { client_id: 'c1', name: '手机', kind: 'phone', since: 1, link: '/devices' },
  },
  ...more,
});

const ended = (id: string, endedAt: number): DeliveryRecord =>
  delivery(id, { state: 'delivered', attempts: 1, triedAt: 5, nextAt: null, endedAt, status: 200 });

const put = (one: DeliveryRecord) => ({ type: 'put_delivery', delivery: one }) as const;

/** Notices on their way out, as every `Store` keeps them. */
export function describeDeliveries(setup: Setup): void {
  test('[ST80] what is open comes back oldest first, and what was put last counts, after a restart too', async () => {
    const { store, reopen } = setup();
    const failed = delivery('dlv_2', { attempts: 2, triedAt: 7, nextAt: 9, error: 'HTTP 500' });
    await store.write([put(delivery('dlv_2')), put(delivery('dlv_1')), put(ended('dlv_3', 8))]);
    await store.write([put(failed)]);
    const again = await reopen();
    expect(await again.deliveries.open()).toEqual([delivery('dlv_1'), failed]);
    expect(await again.deliveries.get('dlv_3')).toEqual(ended('dlv_3', 8));
    expect(await again.deliveries.get('dlv_4')).toBeUndefined();
  });

  test('[ST80] pages are newest first, and each delivery is on one of them', async () => {
    const { store } = setup();
    const ids = ['dlv_1', 'dlv_2', 'dlv_3'];
    await store.write(ids.map((id) => put(delivery(id))));
    const { deliveries, next } = await store.deliveries.list({ limit: 2 });
    expect([deliveries.map(({ id }) => id), next]).toEqual([['dlv_3', 'dlv_2'], 'dlv_2']);
    const last = await store.deliveries.list({ limit: 2, before: 'dlv_2' });
    expect([last.deliveries.map(({ id }) => id), last.next]).toEqual([['dlv_1'], null]);
  });

  test('[ST80] of those that ended the old ones go, and all beyond so many; what is open stays', async () => {
    const { store } = setup();
    const idsLeft = async () =>
      (await store.deliveries.list({ limit: 9 })).deliveries.map(({ id }) => id);
    const all = [10, 20, 30, 40].map((at) => put(ended(`dlv_${at}`, at)));
    await store.write([...all, put(delivery('dlv_00'))]);
    await store.write([{ type: 'delete_deliveries', endedBefore: 20, most: 9 }]);
    expect(await idsLeft()).toEqual(['dlv_40', 'dlv_30', 'dlv_20', 'dlv_00']);
    await store.write([{ type: 'delete_deliveries', endedBefore: 0, most: 2 }]);
    expect(await idsLeft()).toEqual(['dlv_40', 'dlv_30', 'dlv_00']);
  });
}
