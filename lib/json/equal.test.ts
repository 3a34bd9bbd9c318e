import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, sameJson } from './equal.ts';

const json = () => fc.jsonValue({ maxDepth: 3 });

test('values are equal when their JSON text with sorted keys is', () => {
  fc.assert(
    fc.property(json(), json(), (a, b) => {
      expect(sameJson(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
      expect(sameJson([a, { a, b }], [structuredClone(a), { b, a }])).toBe(true);
    }),
  );
});

test('a name that every object has is not a member', () => {
  expect(sameJson({ toString: 1 }, { valueOf: 1 })).toBe(false);
  expect(sameJson({ constructor: Object }, { a: 1 })).toBe(false);
});
