import { expect, test } from 'vitest';
import { createManualClock } from '../testing/manual-clock.ts';
import { watchForSleep } from './watch-for-sleep.ts';

test('[CL28] a jump between two ticks is told, time that goes its way is not', () => {
  const clock = createManualClock();
  let wakes = 0;
  const stop = watchForSleep(clock, () => {
    wakes += 1;
  });
  clock.advance(60_000);
  expect(wakes).toBe(0);
  clock.freeze(30_000);
  clock.advance(0);
  expect(wakes).toBe(1);
  stop();
  clock.freeze(30_000);
  clock.advance(60_000);
  expect(wakes).toBe(1);
});
