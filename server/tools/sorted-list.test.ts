import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SortedList } from './sorted-list.ts';

test('[TR17] whatever is added and deleted, the items are in order', () => {
  // Enough of them for several blocks, which are split and emptied.
  const steps = fc.array(fc.record({ n: fc.nat(400), isAdded: fc.boolean() }), {
    maxLength: 1_500,
  });
  fc.assert(
    fc.property(steps, (given) => {
      const list = new SortedList<number>((a, b) => a - b);
      const model = new Set<number>();
      for (const { n, isAdded } of [...Array.from({ length: 300 }, upTo), ...given]) {
        if (!isAdded) expect(list.delete(n)).toBe(model.delete(n));
        else if (!model.has(n)) {
          model.add(n);
          list.add(n);
        }
      }
      expect([...list]).toEqual([...model].sort((a, b) => a - b));
      expect(list.isEmpty).toBe(model.size === 0);
      for (const n of model) expect(list.delete(n)).toBe(true);
      expect(list.isEmpty).toBe(true);
    }),
    { numRuns: 50 },
  );
});

const upTo = (_: unknown, n: number) => ({ n, isAdded: true });
