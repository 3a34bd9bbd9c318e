import { expect, test } from 'vitest';
import { printQr } from './commands/pair.ts';
import { Output } from './output.ts';

test('[CX2] colours are for a terminal alone', () => {
  const picture = (isTTY: boolean) => {
    const printed: string[] = [];
    const out = { isTTY, write: (text: string) => printed.push(text) };
    printQr(new Output({ out, errors: out, isJson: false }), 'x');
    return printed.join('').includes('\u001b');
  };
  expect([picture(true), picture(false)]).toEqual([true, false]);
});
