import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../lib/testing/temp-dir.ts';
import { hashContents } from './content-stamp.mjs';

function setup() {
  const root = tempDir();
  mkdirSync(join(root, 'lib', 'deep'), { recursive: true });
  const write = (path: string, text: string) => writeFileSync(join(root, path), text);
  write('lib/a.ts', 'one');
  write('lib/deep/b.ts', 'two');
  write('lock.json', '{}');
  const hash = () =>
    hashContents(root, ['lib', 'lock.json', 'maybe'], (path) => path.endsWith('.md'));
  return { root, write, hash };
}

test.each([
  ['a changed file', 'lib/deep/b.ts', 'three'],
  ['a new file', 'lib/deep/c.ts', ''],
  ['a file that was not there before', 'maybe', ''],
])('%s changes the hash', (_, path, text) => {
  const { write, hash } = setup();
  const before = hash();
  write(path, text);
  expect(hash()).not.toBe(before);
});

test('neither times nor what is skipped change it', () => {
  const { root, write, hash } = setup();
  const before = hash();
  write('lib/README.md', 'words');
  utimesSync(join(root, 'lib', 'a.ts'), 1, 1);
  expect(hash()).toBe(before);
});
