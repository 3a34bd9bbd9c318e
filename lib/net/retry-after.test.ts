import { expect, test } from 'vitest';
import { readRetryAfter } from './backoff.ts';

const NOW = Date.parse('2026-11-23T18:00:00Z');

test.each([
  ['7', 7_000],
  ['0', 0],
  ['Mon, 23 Nov 2026 18:00:09 GMT', 9_000],
  ['Mon, 23 Nov 2026 17:59:00 GMT', 0],
  ['999999999999', 60_000],
  ['9'.repeat(400), 60_000],
  ['1e12', undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After %j is %j ms of at most a minute', (header, ms) => {
  expect(readRetryAfter(header, { now: NOW, most: 60_000 })).toBe(ms);
});
