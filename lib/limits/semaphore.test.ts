import fc from 'fast-check';
import { expect, test } from 'vitest';
import { QueueFullError, runIn, Semaphore, Semaphores } from './semaphore.ts';

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
  const semaphore = new Semaphore({ atOnce: 2, waiting: 9 });
  const pieces = [work(), work(), work(), work()];
  const results = Promise.all(pieces.map((piece) => runIn(semaphore, piece.run)));
  const started = () => pieces.map(({ hasStarted }) => hasStarted);
  await settled();
  expect(started()).toEqual([true, true, false, false]);
  pieces[1]?.end('b');
  await settled();
  expect(started()).toEqual([true, true, true, false]);
  for (const [at, piece] of pieces.entries()) piece.end(`${at}`);
  expect(await results).toEqual(['0', 'b', '2', '3']);
});

test('work that fails gives its place back', async () => {
  const semaphore = new Semaphore({ atOnce: 1, waiting: 1 });
  const [bad, good] = [work(), work()];
  const failing = runIn(semaphore, bad.run);
  const next = runIn(semaphore, good.run);
  bad.fail(new Error('it broke'));
  good.end('fine');
  await expect(failing).rejects.toThrow('it broke');
  expect(await next).toBe('fine');
});

test('work without a place to wait is refused, and takes no place', async () => {
  const semaphore = new Semaphore({ atOnce: 1, waiting: 1 });
  const [first, second, third] = [work(), work(), work()];
  const running = runIn(semaphore, first.run);
  const waiting = runIn(semaphore, second.run);
  await expect(runIn(semaphore, third.run)).rejects.toThrow(QueueFullError);
  first.end('1');
  second.end('2');
  expect(await Promise.all([running, waiting])).toEqual(['1', '2']);
  expect(third.hasStarted).toBe(false);
  expect(await runIn(semaphore, async () => 'again')).toBe('again');
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
        const semaphore = new Semaphore({ atOnce, waiting: 4 });
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
            runIn(semaphore, begin, { signal: abort.signal }).then(
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

test('one principal takes half of the places to wait in, and no turn of another', async () => {
  const semaphore = new Semaphore({ atOnce: 1, waiting: 4 });
  const begun: string[] = [];
  const enter = (principal: string) => semaphore.enter(() => begun.push(principal), principal);
  const leave = [enter('eve'), enter('eve'), enter('eve')];
  expect(() => enter('eve')).toThrow(QueueFullError);
  leave.push(enter('bob'));
  for (const one of [0, 1, 3, 2]) leave[one]?.();
  expect(begun).toEqual(['eve', 'eve', 'bob', 'eve']);
});

test('[CL9] each key has places of its own, in the order of coming; who gives up is passed over', async () => {
  const semaphores = new Semaphores();
  const begun: string[] = [];
  const enter = (key: string, name: string) => semaphores.enter(key, 1, () => begun.push(name));
  const [first, second] = [enter('t', 'a'), enter('t', 'b')];
  enter('t', 'c');
  enter('u', 'd');
  expect(begun).toEqual(['a', 'd']);
  second();
  first();
  first();
  expect(begun).toEqual(['a', 'd', 'c']);
});
