import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { createUploadQuota } from './room.ts';

const HOUR_MS = 3_600_000;

function setup() {
  const clock = createManualClock();
  return { clock, quota: createUploadQuota({ bytes_per_hour: 3_600 }, clock) };
}

test('[BL16] so many bytes may come at once, and they come back evenly over an hour', () => {
  const { clock, quota } = setup();
  expect(quota.take('tok_1', 3_000)).toBeUndefined();
  expect(quota.take('tok_1', 700)).toBe(100);
  expect(quota.take('tok_1', 600)).toBeUndefined();
  clock.advance(HOUR_MS / 2);
  expect(quota.take('tok_1', 1_801)).toBe(1);
  expect(quota.take('tok_1', 1_800)).toBeUndefined();
});

test('[BL16] each token has its own count, as long as so many may be live', () => {
  const { quota } = setup();
  expect(quota.take('tok_1', 3_600)).toBeUndefined();
  expect(quota.take('tok_2', 3_600)).toBeUndefined();
  for (let n = 3; n <= 1_000; n += 1) quota.take(`tok_${n}`, 1);
  expect(quota.take('tok_1', 1)).toBe(1);
});
