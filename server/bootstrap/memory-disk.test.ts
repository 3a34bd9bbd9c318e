import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { onMemoryDisk } from './memory-disk.mjs';

test('tests get a folder of their own in memory, which goes with all that they left in it', () => {
  const { env, remove } = onMemoryDisk({ A: 'kept' }, { folder: tmpdir(), room: 1, spare: 1 });
  expect(env).toEqual({ A: 'kept', TMPDIR: expect.any(String) });
  expect(dirname(env.TMPDIR ?? '')).toBe(tmpdir());
  writeFileSync(join(env.TMPDIR ?? '', 'left'), '');
  expect(readdirSync(env.TMPDIR ?? '')).toEqual(['left']);
  remove();
  expect(existsSync(env.TMPDIR ?? '')).toBe(false);
});

test.each([
  ['the system has no such folder', {}, { folder: '/no-such-folder', room: 1, spare: 1 }],
  ['it has too little room', {}, { folder: tmpdir(), room: Number.MAX_SAFE_INTEGER, spare: 1 }],
  ['memory is short', {}, { folder: tmpdir(), room: 1, spare: Number.MAX_SAFE_INTEGER }],
  ['a folder is set already', { TMPDIR: '/elsewhere' }, { folder: tmpdir(), room: 1, spare: 1 }],
])('they have the one of the system when %s', (_, given, place) => {
  const { env, remove } = onMemoryDisk(given, place);
  expect(env).toBe(given);
  remove();
});
