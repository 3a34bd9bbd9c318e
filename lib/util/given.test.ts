import { expect, test } from 'vitest';
import { given } from './given.ts';

test('fields without a value are left out, all others stay', () => {
  const fields = { a: undefined, b: null, c: false, d: '', e: 0 };
  expect(Object.keys(given(fields))).toEqual(['b', 'c', 'd', 'e']);
  expect(Object.keys(fields)).toHaveLength(5);
});
