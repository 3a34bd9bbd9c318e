import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reconnectCap, reconnectDelay } from './backoff.ts';

const attempts = Array.from({ length: 201 }, (_, attempt) => attempt);

test('[CL1] the cap is 1 s, doubles, and stays at 30 s', () => {
  expect(attempts.slice(0, 7).map((attempt) => reconnectCap(attempt))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
  ]);
});

test('[CL1] a wait is anything from nothing up to the cap', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 200 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (attempt, random) => {
        const delay = reconnectDelay(attempt, random);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThan(reconnectCap(attempt));
      },
    ),
  );
  expect(reconnectDelay(5, 0)).toBe(0);
  expect(reconnectDelay(5, 0.999_999)).toBe(29_999);
});
