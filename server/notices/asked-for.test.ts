import { expect, test } from 'vitest';
import { hang, startReceiver, status } from './testing/receiver.ts';
import { ids, setupOutbox, webhook } from './testing/setup-outbox.ts';

test('[OB25] a person tries now what waits for a target that is slowed, and a success ends that', async () => {
  const receiver = await startReceiver(status(503, { 'retry-after': '600' }), status(200));
  const { ask, outbox, listed, states, outcomes } = await setupOutbox({
    notify: webhook(receiver.origin),
  });
  await ask();
  await expect.poll(() => outcomes.length).toBe(1);
  await ask({ id: 'tc_2' });
  expect(outbox.targets()).toMatchObject([{ slowedUntil: 1_600_000 }]);
  const tried = (await listed()).find(({ attempts }) => attempts === 1);
  await outbox.resend(String(tried?.id));
  await expect.poll(states).toEqual(['delivered', 'delivered']);
  expect(outbox.targets()).toMatchObject([{ slowedUntil: null, failuresInRow: 0 }]);
});

test('[OB25] a test goes to a target that is off at once, and turns it on for good where it is taken', async () => {
  const receiver = await startReceiver(status(410), status(410), status(200));
  const notify = webhook(receiver.origin);
  const { ask, clock, outbox, states, store } = await setupOutbox({ notify });
  await ask();
  await expect.poll(states).toEqual(['failed']);
  clock.advance(1_000);
  await outbox.test('webhook:ops');
  await expect.poll(states).toEqual(['failed', 'failed']);
  // Off since the first refusal.
  expect(outbox.targets()).toMatchObject([{ offSince: 1_000_000 }]);
  await outbox.test('webhook:ops');
  await expect.poll(async () => (await states()).includes('delivered')).toBe(true);
  expect(outbox.targets()).toMatchObject([{ offSince: null }]);
  await store.write([]);
  expect(await store.listKept('notify_target')).toEqual([]);
});

test('[OB25] a success of an attempt that no person asked for leaves a target off', async () => {
  const answers: (() => void)[] = [];
  const receiver = await startReceiver((response) => {
    answers.push(() => void response.writeHead(answers.length === 2 ? 410 : 200).end());
  });
  const { ask, outbox, states } = await setupOutbox({ notify: webhook(receiver.origin) });
  for (const id of ids(2)) await ask({ id });
  await receiver.got(2);
  const [first, second] = answers.splice(0);
  answers.length = 2;
  first?.();
  await expect.poll(states).toContain('failed');
  answers.length = 0;
  second?.();
  await expect.poll(states).toContain('delivered');
  expect(outbox.targets()).toMatchObject([{ offSince: 1_000_000 }]);
});

test('[OB11] [OB25] a test waits where four attempts are on their way, and is the next', async () => {
  const receiver = await startReceiver(hang);
  const { ask, clock, outbox } = await setupOutbox({ notify: webhook(receiver.origin) });
  for (const id of ids(6)) await ask({ id });
  await receiver.got(4);
  await outbox.test('webhook:ops');
  expect(receiver.received.length).toBe(4);
  clock.advance(15_000);
  await receiver.got(5);
  expect(receiver.received[4]?.body).toContain('Test of notifications');
});
