import { expect, test } from 'vitest';
import { createTicker } from './card-clock.tsx';

function setup() {
  const timers = new Set<() => void>();
  const clock = { now: 1_000 };
  const ticker = createTicker({
    now: () => clock.now,
    every: (_ms, run) => {
      timers.add(run);
      return () => timers.delete(run);
    },
  });
  const tick = () => {
    clock.now += 250;
    for (const run of timers) run();
  };
  return { ticker, timers, tick };
}

test('one timer serves every listener, and the first call comes at once', () => {
  const { ticker, timers, tick } = setup();
  const received: string[] = [];
  ticker.subscribe((now) => received.push(`a${now}`));
  ticker.subscribe((now) => received.push(`b${now}`));
  tick();
  expect(timers.size).toBe(1);
  expect(received).toEqual(['a1000', 'b1000', 'a1250', 'b1250']);
});

test('the timer stops with the last listener and starts again with the next', () => {
  const { ticker, timers } = setup();
  const stop = ticker.subscribe(() => {});
  stop();
  stop();
  expect(timers.size).toBe(0);
  ticker.subscribe(() => {});
  expect(timers.size).toBe(1);
});
