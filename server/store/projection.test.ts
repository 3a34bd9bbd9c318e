import { expect, test } from 'vitest';
import { createProjection } from './sqlite-store.ts';
import { StoreBusyError } from './store-errors.ts';

test('[ST15] a search that would wait too long for words is refused, and they are indexed all the same', async () => {
  let left = 100;
  let indexing: (() => void) | undefined;
  const index = createProjection({
    applySome: async () => {
      left -= 1;
      return left > 0;
    },
    scheduleIndexing(work) {
      indexing = work;
      return () => {};
    },
  });
  await expect(index.catchUp(0)).rejects.toBeInstanceOf(StoreBusyError);
  expect(left).toBe(99);
  indexing?.();
  await expect.poll(() => left).toBe(0);
});
