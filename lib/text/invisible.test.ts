import { expect, test } from 'vitest';
import {
  HIDDEN_RANGES,
  hiddenClass,
  stripInvisible,
  stripInvisibleDeep,
} from '#lib/text/invisible';

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

const hidden = new RegExp(`^${hiddenClass(HIDDEN_RANGES)}$`, 'u');

test('the table holds every character that by Unicode is drawn as nothing', () => {
  const missing: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const char = String.fromCodePoint(code);
    if (/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Zl}\p{Zp}]/u.test(char) && !hidden.test(char)) {
      missing.push(code.toString(16));
    }
  }
  expect(missing).toEqual([]);
});

test('its ranges rise and do not overlap', () => {
  for (const [index, { from, to }] of HIDDEN_RANGES.entries()) {
    expect(from).toBeLessThanOrEqual(to);
    expect(from).toBeGreaterThan(HIDDEN_RANGES[index - 1]?.to ?? -1);
  }
});

test.each(['a', ' ', 'é', '日', '‰', '➜', '🙂'])('%s is not hidden', (char) => {
  expect(hidden.test(char)).toBe(false);
});

/** These format characters are drawn: Arabic, Syriac and Kaithi signs around numbers and words. */
const DRAWN = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;

test('the table holds every format character that is drawn as nothing', () => {
  const missing: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const char = String.fromCodePoint(code);
    if (/\p{Cf}/u.test(char) && !DRAWN.test(char) && !hidden.test(char)) {
      missing.push(code.toString(16));
    }
  }
  expect(missing).toEqual([]);
});

test.each(['\u{1d159}', '\u{16fe4}'])('a sign without a shape is hidden', (char) => {
  expect(hidden.test(char)).toBe(true);
});
