import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hashContents } from './content-stamp.mjs';

function setup() {
  const root = mkdtempSync(join(tmpdir(), 'stamp-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
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
