import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSystemClock } from './clock.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

function setup() {
  let [wall, steady] = [1_000_000, 500];
  const clock = createSystemClock({ wallNow: () => wall, steadyNow: () => steady });
  const jumps: number[] = [];
  const stop = clock.followWallClock((byMs) => jumps.push(byMs));
  const run = (ms: number) => {
    wall += ms;
    steady += ms;
    vi.advanceTimersByTime(ms);
  };
  const setWall = (byMs: number) => {
    wall += byMs;
  };
  return { clock, jumps, run, setWall, stop, wall: () => wall };
}

test.each([3_600_000, -3_600_000, 315_360_000_000, -315_360_000_000])(
  '[CK3] a wall clock that is set by %d ms is followed between two decisions, and reported',
  (byMs) => {
    const { clock, jumps, run, setWall, wall } = setup();
    run(300);
    expect(clock.now()).toBe(wall());
    const before = clock.now();
    setWall(byMs);
    expect(clock.now()).toBe(before);
    run(700);
    expect(jumps).toEqual([byMs]);
    expect(clock.now()).toBe(wall());
    run(5_000);
    expect(jumps).toEqual([byMs]);
  },
);

test('[CK3] small corrections are left alone until they add up', () => {
  const { clock, jumps, run, setWall } = setup();
  const start = clock.now();
  for (let second = 1; second <= 3; second += 1) {
    setWall(300);
    run(1_000);
  }
  expect([jumps, clock.now() - start]).toEqual([[], 3_000]);
  setWall(300);
  run(1_000);
  expect(jumps).toEqual([1_200]);
});

test('[CK3] a clock that is not followed any more runs evenly', () => {
  const { clock, jumps, run, setWall, stop } = setup();
  stop();
  const start = clock.now();
  setWall(3_600_000);
  run(2_000);
  expect([jumps, clock.now() - start]).toEqual([[], 2_000]);
});
