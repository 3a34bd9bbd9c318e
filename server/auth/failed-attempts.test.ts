import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFailedAttempts } from './failed-attempts.ts';

// The limiter keeps its own time.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('[AU20] the count starts anew after its window', async () => {
  const attempts = createFailedAttempts({ count: 1, windowSeconds: 60 });
  expect(await attempts.count('10.0.0.1')).toBeUndefined();
  expect(await attempts.lockedFor('10.0.0.1')).toBeUndefined();
  expect(await attempts.count('10.0.0.1')).toBe(60);
  expect(await attempts.lockedFor('10.0.0.1')).toBe(60);
  vi.advanceTimersByTime(60_001);
  expect(await attempts.lockedFor('10.0.0.1')).toBeUndefined();
});

test('[AU20] the addresses of one IPv6 /64 are one', async () => {
  const attempts = createFailedAttempts({ count: 1, windowSeconds: 60 });
  await attempts.count('2001:db8:1:2:aaaa::1');
  expect(await attempts.count('2001:db8:1:2:bbbb::2')).toBeDefined();
  expect(await attempts.count('2001:db8:1:3::1')).toBeUndefined();
  expect(await attempts.count('::1')).toBeUndefined();
});
