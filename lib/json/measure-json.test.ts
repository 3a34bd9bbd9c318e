import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  countJson,
  estimateJsonBytes,
  isDeeperThan,
  isSmallJson,
  measureJson,
} from './measure-json.ts';

const nest = (levels: number): unknown =>
  levels === 0 ? 1 : levels % 2 ? [nest(levels - 1)] : { a: nest(levels - 1) };
const anyJson = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));

test('[JS7] a value is at its limits, or the first limit that it breaks is named', () => {
  expect(measureJson([1, { a: 2 }], { maxNodes: 4, maxDepth: 2, maxBytes: 11 })).toBeUndefined();
  expect(measureJson([1, { a: 2 }], { maxNodes: 3 })).toBe('nodes');
  expect(measureJson([1, { a: 2 }], { maxDepth: 1 })).toBe('depth');
  expect(measureJson([1, { a: 2 }], { maxBytes: 10 })).toBe('bytes');
  expect(measureJson(Array.from({ length: 9 }), { maxNodes: 9 })).toBe('nodes');
  const drawn = { a: [1, 2], b: 'xy' };
  expect([5, 4].map((maxNodes) => isSmallJson(drawn, { maxNodes }))).toEqual([true, false]);
  expect([20, 19].map((maxBytes) => isSmallJson(drawn, { maxBytes }))).toEqual([true, false]);
});

test('[JS7] what JSON text cannot hold is named, and so is the key __proto__', () => {
  for (const odd of [undefined, () => 1, Number.NaN, Number.POSITIVE_INFINITY, 1n, Symbol('a')]) {
    expect(measureJson({ a: [odd] }, {})).toBe('not_json');
  }
  expect(measureJson(JSON.parse('{"a":{"__proto__":1}}'), {})).toBe('proto');
});

test('[JS7] depth is measured without recursion, and ends a cycle', () => {
  expect([isDeeperThan(nest(5), 5), isDeeperThan(nest(6), 5)]).toEqual([false, true]);
  expect(isDeeperThan(JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), 64)).toBe(true);
  const cycle: unknown[] = [];
  cycle.push(cycle);
  expect(measureJson(cycle, { maxDepth: 64 })).toBe('depth');
});

test('[JS1] bytes are those of the JSON text, escapes included', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
      expect(countJson(value, bytes)).toBe(bytes);
      expect(countJson(value, bytes - 1)).toBeGreaterThan(bytes - 1);
    }),
  );
});

test.each([
  ...[0, -0, 9, 10, -10, 99_999, 100_000, 1_700_000_000_123, 2 ** 53, -(2 ** 53), 1e15, 1e21],
  ...[0.1, -1.5, 1e-7, Number.MAX_VALUE, Number.NaN, Number.POSITIVE_INFINITY, true, false, null],
])('[JS1] the number of bytes of %s is that of its text', (value) => {
  expect(countJson([value], 1_000)).toBe(JSON.stringify([value]).length);
});

test('[JS1] an estimate is within the factor that escapes can make, and stops at its limit', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
      expect(estimateJsonBytes(value) * 6).toBeGreaterThanOrEqual(bytes);
    }),
  );
  expect(estimateJsonBytes(['x'.repeat(100), 'y'.repeat(100)], 50)).toBeLessThan(150);
});
