import { expect, test } from 'vitest';
import { MOST_OPEN_IN_ALL } from './outbox.ts';
import type { Target } from './target.ts';
import { startReceiver, status } from './testing/receiver.ts';
import { ids, SECRET, setupOutbox, webhook } from './testing/setup-outbox.ts';

const named = (count: number, url: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`t${n}`, { kind: 'webhook', url, secret: SECRET }]),
  );

test('[OB26] too many deliveries for all targets: the fullest gives way, which is counted and logged in one line', async () => {
  const { ask, clock, outbox, outcomes, infos } = await setupOutbox({
    notify: {
      ...named(10, 'http://127.0.0.1:1'),
      late: { kind: 'webhook', url: 'http://127.0.0.1:1', secret: SECRET, tools: ['late.*'] },
    },
    isStarted: false,
  });
  for (const id of ids(1_000)) await ask({ id });
  expect(outcomes).toEqual([]);
  for (const id of ids(5)) await ask({ id: `late_${id}`, toolName: 'late.tool' });
  const open = outbox.targets().map((target) => target.open);
  expect(open.reduce((a, b) => a + b)).toBe(MOST_OPEN_IN_ALL);
  expect(open.at(-1)).toBe(5);
  expect(infos).toEqual([]);
  clock.advance(10_000);
  expect(infos.length).toBe(1);
  expect(infos[0]).toMatch(
    /^Deliveries of notices were dropped, since too many waited: \d+ to webhook:t/,
  );
});

test('[OB26] the log names no browser of a person, and a stop writes what it gathered', async () => {
  const target: Target = {
    ...{ id: 'push:secret', wants: () => true },
    send: () => new Promise(() => {}),
  };
  const { ask, close, infos } = await setupOutbox({
    sources: [{ list: () => [target] }],
    isStarted: false,
  });
  for (const id of ids(1_003)) await ask({ id });
  await close();
  expect(infos).toEqual([
    'Deliveries of notices were dropped, since too many waited: 3 to browsers',
  ]);
});

test('[OB27] that a target is off is forgotten where its name is gone, or leads elsewhere', async () => {
  const receiver = await startReceiver(status(410));
  const offSince = async (url: string | undefined, dir: string) => {
    const { outbox, close } = await setupOutbox({
      ...{ dir, isStarted: false },
      ...(url === undefined ? {} : { notify: webhook(url) }),
    });
    const [target] = outbox.targets();
    await close();
    return target?.offSince;
  };
  const turnedOff = async () => {
    const { ask, close, dir, states } = await setupOutbox({ notify: webhook(receiver.origin) });
    await ask();
    await expect.poll(states).toEqual(['failed']);
    await close();
    return dir;
  };
  const first = await turnedOff();
  expect(await offSince(receiver.origin, first)).toBe(1_000_000);
  expect(await offSince(undefined, first)).toBeUndefined();
  expect(await offSince(receiver.origin, first)).toBeNull();
  const second = await turnedOff();
  expect(await offSince(`${receiver.origin}/other`, second)).toBeNull();
});

test('[OB30] a question about a target is asked as often as one likes, and admission once', async () => {
  let admitted = 0;
  const target: Target = {
    ...{ id: 'push:one', wants: () => true },
    admit: () => {
      admitted += 1;
      return admitted === 1;
    },
    send: async () => ({ kind: 'delivered', status: 201 }),
  };
  const { ask, states } = await setupOutbox({ sources: [{ list: () => [target] }] });
  await ask();
  await ask({ id: 'tc_2' });
  await expect.poll(states).toEqual(['delivered']);
  expect(admitted).toBe(2);
});
