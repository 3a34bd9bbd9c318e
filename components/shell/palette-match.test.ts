import { expect, test } from 'vitest';
import { matchPalette } from './command-palette.tsx';

test.each([
  ['calculation.eval', 'lation', 1],
  ['calculation.eval', 'eval calc', 0.5],
  ['mail.send', 'sends letter', 0.5],
  ['mail.send', 'ail etter', 0],
  ['calculation.eval', 'cae', 0],
  ['mail.send', '…', 0],
  ['命令列表', '列表', 1],
  ['found:tc_1', 'harbour gate', 1],
])('%s fits "%s" by its letters in a row or by beginnings of words', (name, typed, score) => {
  expect(matchPalette(name, typed, ['Sends a letter'])).toBe(score);
});
