import { expect, test } from 'vitest';
import { restartAfterDiskTrouble } from './run-server.mjs';

/** A server that ends with these codes, one after the other. */
function setup(codes: readonly number[]) {
  const left = [...codes];
  const pauses: number[] = [];
  return {
    pauses,
    left,
    run: async () => ({ code: left.shift() ?? 0, told: false }),
    pause: async (seconds: number) => {
      pauses.push(seconds);
      return false;
    },
  };
}

test('[ST36] a server that could not write is started again, after longer and longer pauses', async () => {
  const { run, pause, pauses } = setup([74, 74, 74, 74, 74, 74, 74, 3]);
  expect(await restartAfterDiskTrouble(run, pause)).toBe(3);
  expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
});

test('[ST36] whatever else it ended with is the end', async () => {
  const { run, pause, pauses } = setup([78, 0]);
  expect(await restartAfterDiskTrouble(run, pause)).toBe(78);
  expect(pauses).toEqual([]);
});

test('[ST36] a launcher that is told to end starts nothing more', async () => {
  const { run, left } = setup([74, 74, 0]);
  expect(await restartAfterDiskTrouble(run, async () => true)).toBe(74);
  expect(await restartAfterDiskTrouble(async () => ({ code: 74, told: true }))).toBe(74);
  expect(left).toHaveLength(2);
});
