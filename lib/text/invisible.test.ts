import { expect, test } from 'vitest';
import { stripInvisible, stripInvisibleDeep } from './invisible.ts';

test.each([
  ['tag characters', 'a\u{E0041}\u{E007F}b'],
  ['variation selectors that carry bytes', 'a\u{E0100}\u{E01EF}\uFE00b'],
  ['zero widths', 'a\u200B\u2060\uFEFFb'],
  ['changes of direction', 'a\u061C\u200E\u202E\u2066\u206Ab'],
  ['separators', 'a\u2028\u2029b'],
  ['rows of joiners that carry bits', 'a\u200C\u200D\u200C\u200C\u200Bb'],
  ['rows that other hidden ones part', 'a\u200D\u200B\uFE0F\u200B\u200Db'],
  ['fillers that join nothing', 'a\u034F\u115F\u180Eb'],
])('%s are taken out', (_name, text) => {
  expect(stripInvisible(text)).toBe('ab');
});

test.each(['👩‍👩‍👧‍👦', '❤️‍🔥', '❤️', '☎︎', 'می‌خواهم'])('%s stays whole', (text) => {
  expect(stripInvisible(text)).toBe(text);
});

test('every text of a value loses them, keys too', () => {
  const value = { 'na\u200Bme': ['a\u{E0041}', { b: 1, c: null }] };
  expect(stripInvisibleDeep(value)).toEqual({ name: ['a', { b: 1, c: null }] });
});

test('a value without any is not copied', () => {
  const value = { family: ['👩‍👧'] };
  expect(stripInvisibleDeep(value)).toBe(value);
});
