import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { takeLines } from './whole-lines.ts';

async function taken(chunks: readonly string[], most = 1_000_000): Promise<string[]> {
  const given: string[] = [];
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  await takeLines(stream, (bytes) => void given.push(bytes.toString()), most);
  return given;
}

test('[MC73] lines are given whole, wherever what came was cut', async () => {
  expect(await taken(['{"a":', '1}', '\n{"b"', ':2}\n\n', 'no end'])).toEqual([
    '{"a":1}\n',
    '{"b":2}\n\n',
  ]);
});

test('[MC73] many short lines in one piece are given in several', async () => {
  const lines = 'x\n'.repeat(30_000);
  const given = await taken([lines]);
  expect(given.length).toBeGreaterThan(20);
  expect(given.join('')).toBe(lines);
});
