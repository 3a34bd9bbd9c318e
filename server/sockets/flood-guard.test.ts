import { expect, test } from 'vitest';
import { createFloodGuard } from './flood-guard.ts';

test('takes a burst, then only as many as time gives back', () => {
  let now = 0;
  const guard = createFloodGuard({ burst: 3, perSecond: 10 }, () => now);
  expect([guard.take(), guard.take(), guard.take(), guard.take()]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  now += 100;
  expect([guard.take(), guard.take()]).toEqual([true, false]);
});

test('what the server had asked for is given back', () => {
  const guard = createFloodGuard({ burst: 1, perSecond: 0 }, () => 0);
  expect(guard.take()).toBe(true);
  guard.giveBack();
  expect(guard.take()).toBe(true);
  expect(guard.take()).toBe(false);
});
