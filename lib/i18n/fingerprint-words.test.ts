import { expect, test } from 'vitest';
import { fingerprintWords } from './fingerprint-words.ts';

const all = Array.from({ length: 256 }, (_, number) => number);

test.each(['en', 'zh'] as const)('each number has a word of its own in %s', (locale) => {
  const words = fingerprintWords(all, locale);
  expect(new Set(words).size).toBe(256);
  expect(words).not.toContain('?');
});

test('English words begin differently enough, Chinese ones have two signs', () => {
  const starts = fingerprintWords(all, 'en').map((word) => word.slice(0, 5));
  expect(new Set(starts).size).toBe(256);
  expect(fingerprintWords(all, 'zh').filter((word) => [...word].length !== 2)).toEqual([]);
});
