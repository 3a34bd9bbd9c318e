import { expect, test } from 'vitest';
import { HIDDEN_RANGES, hiddenClass } from './hidden-code-points.ts';

const hidden = new RegExp(`^${hiddenClass(HIDDEN_RANGES)}$`, 'u');

test('the table holds every character that Unicode says is drawn as nothing', () => {
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
