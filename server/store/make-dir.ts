import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory and those above it. Node's own `recursive` never comes back
 * where a parent exists that refuses children as if it did not, as `/proc` does.
 */
export function makeDir(dir: string, mode: number): void {
  try {
    mkdirSync(dir, mode);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'EEXIST') return;
    if (error.code !== 'ENOENT' || dirname(dir) === dir) throw error;
    makeDir(dirname(dir), mode);
    mkdirSync(dir, mode);
  }
}
