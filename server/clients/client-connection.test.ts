import { expect, test } from 'vitest';
import { isOtherLatency } from './client-connection.ts';

test.each<[number, number | undefined, boolean]>([
  [0, undefined, true],
  [110, 100, false],
  [124, 100, false],
  [126, 100, true],
  [10, 20, false],
  [31, 20, true],
])('[LV22] a latency of %d ms after one of %j ms is published: %j', (latency, before, isNews) => {
  expect(isOtherLatency(latency, before)).toBe(isNews);
});
