import decodeQR from 'qr/decode.js';
import { expect, test } from 'vitest';
import { printQr } from './commands/pair.ts';
import { Output } from './output.ts';

const SCALE = 4;

/** The picture that a terminal draws: two rows in each line, a block is light. */
function pictureOf(text: string) {
  const lines = text.trimEnd().split('\n');
  const rows = lines.flatMap((line) => [
    [...line].map((sign) => '█▀'.includes(sign)),
    [...line].map((sign) => '█▄'.includes(sign)),
  ]);
  const width = (rows[0]?.length ?? 0) * SCALE;
  const height = rows.length * SCALE;
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const isLight = rows[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)] === true;
      if (!isLight) data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
    }
  }
  return { width, height, data };
}

test('[CX8] the picture that is printed holds the link', () => {
  const printed: string[] = [];
  const sink = { write: (text: string) => printed.push(text) };
  const out = new Output({ out: sink, errors: sink, isJson: false });
  printQr(out, 'https://192.0.2.1:3443/pair/ABCDEFGH');
  expect(decodeQR(pictureOf(printed.join('')))).toBe('https://192.0.2.1:3443/pair/ABCDEFGH');
});

test('[CX2] colours are for a terminal alone', () => {
  const picture = (isTTY: boolean) => {
    const printed: string[] = [];
    const out = { isTTY, write: (text: string) => printed.push(text) };
    printQr(new Output({ out, errors: out, isJson: false }), 'x');
    return printed.join('').includes('\u001b');
  };
  expect([picture(true), picture(false)]).toEqual([true, false]);
});
