import { expect, test } from 'vitest';
import { createFrameScheduler } from './frame-scheduler.ts';

function setup() {
  const frames: (() => void)[] = [];
  const timers: (() => void)[] = [];
  let runs = 0;
  const schedule = createFrameScheduler({
    requestFrame: (run) => frames.push(run),
    schedule: (_, fire) => {
      timers.push(fire);
      return () => {};
    },
  });
  schedule(() => {
    runs += 1;
  });
  return { draw: () => frames.pop()?.(), wait: () => timers.pop()?.(), runs: () => runs };
}

test('[SW13] it runs at the next frame, and not a second time when the wait is over', () => {
  const { draw, wait, runs } = setup();
  draw();
  expect(runs()).toBe(1);
  wait();
  expect(runs()).toBe(1);
});

test('[SW13] where no frame is drawn it runs when the wait is over', () => {
  const { draw, wait, runs } = setup();
  wait();
  expect(runs()).toBe(1);
  draw();
  expect(runs()).toBe(1);
});
