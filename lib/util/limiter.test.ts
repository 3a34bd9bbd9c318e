import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLimiter, QueueFullError } from './limiter.ts';

const never = new AbortController().signal;

/** Work that ends when it is asked to, and notes that it started. */
function work() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const piece = {
    hasStarted: false,
    end: resolve,
    fail: reject,
    run(): Promise<string> {
      piece.hasStarted = true;
      return promise;
    },
  };
  return piece;
}
/** All that follows at once from what has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('work runs so many at a time, in the order in which it came', async () => {
  const limiter = createLimiter({ atOnce: 2, waiting: 9 });
  const pieces = [work(), work(), work(), work()];
  const results = Promise.all(pieces.map((piece) => limiter.run(never, piece.run)));
  const started = () => pieces.map(({ hasStarted }) => hasStarted);
  await settled();
  expect(started()).toEqual([true, true, false, false]);
  pieces[1]?.end('b');
  await settled();
  expect(started()).toEqual([true, true, true, false]);
  for (const [at, piece] of pieces.entries()) piece.end(`${at}`);
  expect(await results).toEqual(['0', 'b', '2', '3']);
});

test('work that fails gives its turn back', async () => {
  const limiter = createLimiter({ atOnce: 1, waiting: 1 });
  const [bad, good] = [work(), work()];
  const failing = limiter.run(never, bad.run);
  const next = limiter.run(never, good.run);
  bad.fail(new Error('it broke'));
  good.end('fine');
  await expect(failing).rejects.toThrow('it broke');
  expect(await next).toBe('fine');
});

test('work without a place to wait is refused, and takes no place', async () => {
  const limiter = createLimiter({ atOnce: 1, waiting: 1 });
  const [first, second, third] = [work(), work(), work()];
  const running = limiter.run(never, first.run);
  const waiting = limiter.run(never, second.run);
  await expect(limiter.run(never, third.run)).rejects.toThrow(QueueFullError);
  first.end('1');
  second.end('2');
  expect(await Promise.all([running, waiting])).toEqual(['1', '2']);
  expect(third.hasStarted).toBe(false);
  expect(await limiter.run(never, async () => 'again')).toBe('again');
});

test('whatever is aborted when: never too many at once, and nothing that could run waits', async () => {
  const acts = fc.array(
    fc.record({ what: fc.constantFrom('start', 'end', 'abort'), at: fc.nat({ max: 9 }) }),
  );
  await fc.assert(
    fc.asyncProperty(
      acts,
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      async (steps, atOnce, calm) => {
        const limiter = createLimiter({ atOnce, waiting: 4 });
        const all: { piece: ReturnType<typeof work>; abort: AbortController; state: string }[] = [];
        const count = (state: string) => all.filter((one) => one.state === state).length;
        for (const { what, at } of steps) {
          const one = all[at % Math.max(all.length, 1)];
          if (what === 'start') {
            const piece = work();
            const abort = new AbortController();
            const added = { piece, abort, state: 'waiting' };
            all.push(added);
            const begin = () => {
              added.state = 'running';
              return piece.run();
            };
            limiter.run(abort.signal, begin).then(
              () => (added.state = 'ended'),
              () => (added.state = 'ended'),
            );
          } else if (what === 'end') one?.piece.end('');
          else one?.abort.abort();
          if (calm) await settled();
          expect(count('running')).toBeLessThanOrEqual(atOnce);
        }
        await settled();
        expect(count('waiting')).toBeLessThanOrEqual(4);
        if (count('waiting') > 0) expect(count('running')).toBe(atOnce);
      },
    ),
  );
});
