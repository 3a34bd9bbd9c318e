import { existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { untilWritable } from './until-writable.ts';

function setup() {
  const parent = mkdtempSync(join(tmpdir(), 'disk-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  return join(parent, 'data');
}

test('[ST37] a disk is asked at growing intervals, until it takes a file again', async () => {
  const dir = setup();
  const pauses: number[] = [];
  await untilWritable({
    dir,
    async pause(ms) {
      pauses.push(ms);
      if (pauses.length === 7) mkdirSync(dir); // Until then, no file can be made there.
    },
  });
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(existsSync(dir) && readdirSync(dir)).toEqual([]);
});
