import { expect, test } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import { StatusPace } from './call-repository.ts';

/** How many become events of a call that shows something each 50 ms for so long. */
function appendedWithin(ms: number, shown: CardUpdate, preview?: unknown): number {
  const pace = new StatusPace();
  let events = 0;
  for (let now = 0; now < ms; now += 50) {
    if (pace.waitMs(now, events) > 0) continue;
    pace.appended(now, shown, preview);
    events += 1;
  }
  return events;
}

const HOUR = 3_600_000;

test('[CE9] a call has 4 events a second, and of a whole day no more than 2,200', () => {
  expect(appendedWithin(60_000, { tip: 'on' })).toBe(242);
  expect(appendedWithin(HOUR, { tip: 'on' })).toBeLessThan(2_000);
  expect(appendedWithin(24 * HOUR, { tip: 'on' })).toBeLessThan(2_200);
});

test('[CE9] of large previews there are fewer: about 2 MiB an hour, and 3 a day', () => {
  const preview = 'x'.repeat(64 * 1024);
  const shown = { preview: preview.slice(0, 2_000), preview_bytes: preview.length };
  expect(appendedWithin(HOUR, shown, preview) * 66_000).toBeLessThan(3.5 * 2 ** 20);
  expect(appendedWithin(24 * HOUR, shown, preview) * 66_000).toBeLessThan(5 * 2 ** 20);
});

test('[CE9] after a second of quiet the next three are events at once', () => {
  const pace = new StatusPace();
  const waits = [0, 1, 2, 3, 500, 1_003, 1_500, 1_501, 1_502, 1_503].map((now) => {
    const wait = pace.waitMs(now, 5);
    if (wait === 0) pace.appended(now, { tip: 'on' }, undefined);
    return wait;
  });
  expect(waits).toEqual([0, 0, 0, 249, 0, 0, 0, 249, 248, 247]);
});
