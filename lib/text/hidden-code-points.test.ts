import { expect, test } from 'vitest';
import { HIDDEN_RANGES, hiddenClass } from './hidden-code-points.ts';

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

/** Those that are drawn: Arabic, Syriac and Kaithi signs around numbers and words. */
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
