import { expect, test } from 'vitest';
import { randomId } from './random-id.ts';

test('is 32 hex digits, and another one each time', () => {
  const ids = Array.from({ length: 100 }, randomId);
  expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(100);
});
