import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { describeHistory, readHistory } from './describe-history.ts';

const MIB = 1024 * 1024;
const none = { days: undefined, bytes: undefined };
const size = {
  ...{ calls: 12_345, usedBytes: 800 * MIB, freeBytes: 0, logBytes: 0 },
  blobBytes: 400 * MIB,
};

test('[ST67] a start says how large the history is, and how long it is kept', () => {
  expect(describeHistory(size, none)).toBe(
    '12,345 calls, 1.2 GiB (database 800 MiB, blobs 400 MiB); kept for ever',
  );
  expect(
    describeHistory({ ...size, calls: 1, blobBytes: 0 }, { days: 30, bytes: 10 * 1024 * MIB }),
  ).toBe('1 call, 800 MiB (database 800 MiB, blobs 0 B); kept for 30 days and up to 10 GiB');
});

test('[ST67] what is free in the file is told when it is much of it', () => {
  const half = { ...size, usedBytes: 400 * MIB, freeBytes: 396 * MIB, logBytes: 4 * MIB };
  expect(describeHistory(half, none)).toContain('(database 800 MiB of which 396 MiB are free, ');
});

test('[ST67] a start does not wait for many files to be counted', async () => {
  const clock = createManualClock();
  const line = readHistory({
    store: { history: { size: async () => size, countCalls: async () => size.calls } },
    blobs: { size: () => new Promise(() => {}) },
    keep: none,
    clock,
  });
  clock.advance(1_000);
  expect(await line).toBe(
    '12,345 calls, 800 MiB (database 800 MiB, blobs being counted); kept for ever',
  );
});
