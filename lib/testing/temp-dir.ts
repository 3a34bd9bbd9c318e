import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

function makeDir(): { dir: string; remove: () => void } {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'callboard-test-')));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** A directory of one test's own, gone after it. */
export function tempDir(): string {
  const { dir, remove } = makeDir();
  onTestFinished(remove);
  return dir;
}

/** A directory that all tests of a file share, gone after the last one. */
export function sharedTempDir(): string {
  const { dir, remove } = makeDir();
  afterAll(remove);
  return dir;
}
