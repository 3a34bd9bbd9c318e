import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutAndMark, cutToBytes } from './cut-to-bytes.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

test('a text is cut to its bytes, never inside a character', () => {
  expect(cutToBytes('short', 123)).toBe('short');
  expect(bytesOf(cutToBytes('日'.repeat(100), 123))).toBe(123);
  expect(cutToBytes('a日', 3)).toBe('a');
  expect(cutToBytes('a😀', 4)).toBe('a');
});

test('what is kept is the longest beginning that fits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, maxBytes) => {
      const kept = cutToBytes(text, maxBytes);
      expect(text.startsWith(kept)).toBe(true);
      expect(bytesOf(kept)).toBeLessThanOrEqual(maxBytes);
      const next = [...text.slice(kept.length)][0];
      if (next !== undefined) expect(bytesOf(kept + next)).toBeGreaterThan(maxBytes);
    }),
  );
});

test('a marked cut shows how much was kept, within the same bytes', () => {
  expect(cutAndMark('short', 123)).toBe('short');
  const cut = cutAndMark('日'.repeat(100), 123);
  expect(cut).toMatch(/\n\[cut: \d+ of 100 characters\]$/);
  expect(bytesOf(cut)).toBeLessThanOrEqual(123);
});
