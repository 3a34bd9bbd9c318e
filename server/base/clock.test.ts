import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSystemClock } from './clock.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

function setup() {
  let [wall, steady] = [1_000_000, 500];
  const clock = createSystemClock({ wallNow: () => wall, steadyNow: () => steady });
  const jumps: number[] = [];
  const stop = clock.followWallClock(() => jumps.push(clock.now()));
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
    const [before, steady] = [clock.now(), clock.steady()];
    setWall(byMs);
    expect(clock.now()).toBe(before);
    run(700);
    expect(jumps).toEqual([wall()]);
    expect(clock.now()).toBe(wall());
    run(5_000);
    expect(jumps).toHaveLength(1);
    expect(clock.steady()).toBe(steady + 5_700);
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
  expect([jumps.length, clock.now() - start]).toEqual([1, 5_200]);
});

test('[CK3] a clock that is not followed any more runs evenly', () => {
  const { clock, jumps, run, setWall, stop } = setup();
  stop();
  const start = clock.now();
  setWall(3_600_000);
  run(2_000);
  expect([jumps, clock.now() - start]).toEqual([[], 2_000]);
});

test('[CK4] the steady clock goes on from where it is told to', () => {
  const { clock, run } = setup();
  clock.resumeSteady({ wall: clock.now(), steady: 5_000 });
  run(1_500);
  expect([clock.steady(), clock.now()]).toEqual([6_500, 1_001_500]);
});

test('[CK3] both clocks are read at once: a deadline is the same wall time each time it is shown', () => {
  let fine = 500;
  // Each reading comes later, so that two of them mostly lie in two milliseconds.
  const clock = createSystemClock({ wallNow: () => 1_000_000, steadyNow: () => (fine += 0.4) });
  const offsets = Array.from({ length: 50 }, () => {
    const { wall, steady } = clock.moment();
    return wall - steady;
  });
  expect(new Set(offsets).size).toBe(1);
});
