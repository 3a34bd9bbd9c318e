import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stepsOf, toGroup } from './step-group.ts';

test('[ST8] the values of steps reach the thread that writes as they are', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'ü'.repeat(70_000), 'a\ud800', 'x'.repeat(65_536)),
  );
  const value = fc.oneof(fc.constant(null), fc.integer(), fc.double({ noNaN: true }), text);
  const step = fc.tuple(fc.nat(50), fc.array(value, { maxLength: 9 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
      expect([...stepsOf(structuredClone(toGroup(steps)))]).toEqual(steps);
    }),
  );
});
