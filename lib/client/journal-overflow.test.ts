import fc from 'fast-check';
import { expect, test } from 'vitest';
import { journalOverflow } from './journal.ts';

const entries = fc.array(
  fc.record({ bytes: fc.integer({ min: 1, max: 100 }), droppable: fc.boolean() }),
);

test('[CL17] drops the oldest first, only what may go, and no more than needed', () => {
  fc.assert(
    fc.property(entries, fc.integer({ min: 0, max: 500 }), (sizes, maxBytes) => {
      const stored = sizes.map((size, index) => ({ ...size, id: `${index}` }));
      const dropped = journalOverflow(stored, maxBytes);
      const droppable = stored.filter((one) => one.droppable).map(({ id }) => id);
      expect(dropped).toEqual(droppable.slice(0, dropped.length));
      const left = (deleted: string[]) =>
        stored.filter(({ id }) => !deleted.includes(id)).reduce((sum, { bytes }) => sum + bytes, 0);
      if (dropped.length < droppable.length) expect(left(dropped)).toBeLessThanOrEqual(maxBytes);
      if (dropped.length > 0) expect(left(dropped.slice(0, -1))).toBeGreaterThan(maxBytes);
    }),
  );
});
