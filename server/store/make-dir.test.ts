import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDir } from './data-dir-lock.ts';

test('makes a directory and those above it, for its owner alone, and again without harm', () => {
  const root = mkdtempSync(join(tmpdir(), 'make-dir-'));
  const dir = join(root, 'a', 'b');
  makeDir(dir, 0o700);
  makeDir(dir, 0o700);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  rmSync(root, { recursive: true });
});

test('tells at once that a directory cannot be made', () => {
  const file = join(tmpdir(), `make-dir-${process.pid}`, 'x');
  expect(() => makeDir(join('/dev/null', file), 0o700)).toThrow();
});
