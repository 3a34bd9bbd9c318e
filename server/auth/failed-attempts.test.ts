import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { type AttemptLimits, createFailedAttempts } from './failed-attempts.ts';

const HOME = '10.0.0.1';

test('[AU20] so many come back over a window', async () => {
  const { attempts, clock } = setup({ count: 2, maxHeld: 0 });
  const three = [
    await attempts.count(HOME),
    await attempts.count(HOME),
    await attempts.count(HOME),
  ];
  expect(three).toEqual([undefined, undefined, 30]);
  clock.advance(29_999);
  expect(await attempts.count(HOME)).toBe(1);
  clock.advance(1);
  expect([await attempts.count(HOME), await attempts.count(HOME)]).toEqual([undefined, 30]);
});

test('[AU20] the addresses of one IPv6 /64 are one', async () => {
  const { attempts } = setup({ count: 1, maxHeld: 0 });
  await attempts.count('2001:db8:1:2:aaaa::1');
  expect(await attempts.count('2001:db8:1:2:bbbb::2')).toBeDefined();
  expect(await attempts.count('2001:db8:1:3::1')).toBeUndefined();
  expect(await attempts.count('::1')).toBeUndefined();
});

test('[AU24] T14: beyond the limit answers are held back, some of them', async () => {
  const { attempts, clock } = setup({ count: 2, holdMs: 1_000, maxHeld: 3 });
  const answered: number[] = [];
  for (let n = 0; n < 8; n += 1) void attempts.count(HOME).then(() => answered.push(n));
  await settled();
  expect(answered, 'the first two, and what is over the places to wait in').toEqual([
    0, 1, 5, 6, 7,
  ]);
  clock.advance(999);
  await settled();
  expect(answered).toHaveLength(5);
  clock.advance(1);
  await settled();
  expect(answered).toEqual([0, 1, 5, 6, 7, 2, 3, 4]);
  void attempts.count(HOME).then(() => answered.push(8));
  await settled();
  expect(answered, 'a place is free again').toHaveLength(8);
});

test('[AU24] the answers of another address are not held back', async () => {
  const { attempts } = setup({ count: 1 });
  await attempts.count(HOME);
  void attempts.count(HOME);
  expect(await attempts.count('10.0.0.2')).toBeUndefined();
});

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function setup(limits: AttemptLimits) {
  const clock = createManualClock();
  return { clock, attempts: createFailedAttempts(clock, limits) };
}
