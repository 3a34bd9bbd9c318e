import { expect, test } from 'vitest';
import { appendCall } from '../store/testing/store-setup.ts';
import { setupCalls, tool } from './testing/setup-calls.ts';

/** A call that a client was offered, on disk. */
async function setup() {
  const one = await setupCalls();
  const phone = one.connect('phone', { claims: true, epoch: 'e1' });
  phone.offer(tool('pay'));
  const { id } = await one.invoke('pay');
  const offered = await one.call(id);
  const next = { ...offered, timeoutMs: 77_000, version: offered.version + 1 };
  return { ...one, id, next };
}

test('[CE4] what another writer was first with is read once it is on disk', async () => {
  const one = await setup();
  const { calls, store, id, next, settle } = one;
  const other = store.write([appendCall(next)]);
  await calls.cancel(id, 'enough', 'operator').catch(() => {});
  await other;
  await settle();
  expect(await calls.get(id)).toMatchObject({ version: next.version, timeoutMs: 77_000 });
  expect(await calls.cancel(id, 'again', 'operator')).toMatchObject({ ok: true });
});

test('[CE4] [CE5] a start takes an offer for granted, also when another writer was before it', async () => {
  const before = await setup();
  const { id, next, dir } = before;
  await before.close();
  const after = await setupCalls({ dir });
  const other = after.store.write([appendCall(next)]);
  await after.calls.recover();
  await other;
  await after.settle();
  expect(await after.call(id)).toMatchObject({
    ...{ phase: 'offered', granted: true, timeoutMs: 77_000, version: next.version + 1 },
  });
});
