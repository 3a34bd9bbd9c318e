import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createConcurrencyLimiter } from './concurrency-limiter.ts';

test('[CL9] the next in line is called up when one leaves, in the order of coming', () => {
  const limiter = createConcurrencyLimiter();
  expect([
    limiter.acquire('t', 'a', 1),
    limiter.acquire('t', 'b', 1),
    limiter.acquire('t', 'c', 1),
  ]).toEqual([true, false, false]);
  expect([limiter.release('a'), limiter.release('b'), limiter.release('c')]).toEqual([
    ['b'],
    ['c'],
    [],
  ]);
});

test('[CL9] one that gives up waiting is passed over', () => {
  const limiter = createConcurrencyLimiter();
  for (const id of ['a', 'b', 'c']) limiter.acquire('t', id, 1);
  expect(limiter.release('b')).toEqual([]);
  expect(limiter.release('a')).toEqual(['c']);
});

test('[CL9] tools do not wait for each other', () => {
  const limiter = createConcurrencyLimiter();
  expect([limiter.acquire('t', 'a', 1), limiter.acquire('u', 'b', 1)]).toEqual([true, true]);
});

test('[CL9] never more at once than declared, and nothing waits while there is room', () => {
  const steps = fc.array(fc.record({ id: fc.integer({ min: 0, max: 8 }), enter: fc.boolean() }));
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 3 }), (acts, limit) => {
      const limiter = createConcurrencyLimiter();
      const running = new Set<string>();
      const waiting = new Set<string>();
      for (const act of acts) {
        const id = `${act.id}`;
        if (act.enter && !running.has(id)) {
          const target = limiter.acquire('t', id, limit) ? running : waiting;
          waiting.delete(id);
          target.add(id);
        } else if (!act.enter) {
          running.delete(id);
          waiting.delete(id);
          for (const next of limiter.release(id)) {
            waiting.delete(next);
            running.add(next);
          }
        }
        expect(running.size).toBeLessThanOrEqual(limit);
        if (waiting.size > 0) expect(running.size).toBe(limit);
      }
    }),
  );
});
