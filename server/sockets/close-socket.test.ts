import { expect, test } from 'vitest';
import { cutToBytes } from './close-socket.ts';

test('a close reason is cut to its bytes, never inside a character', () => {
  expect(cutToBytes('short', 123)).toBe('short');
  expect(Buffer.byteLength(cutToBytes('日'.repeat(100), 123))).toBe(123);
  expect(cutToBytes('a日', 3)).toBe('a');
});
