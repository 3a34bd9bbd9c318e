import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory of one test's own, gone after it. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'node-client-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}
