import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { retryWhileTaken } from '../base/retry-while-taken.ts';
import { isLocked } from './store-errors.ts';

/** Another server has the directory. */
export class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError';
}

/** The directory cannot be made or written. */
export class DataDirUnusableError extends Error {
  override readonly name = 'DataDirUnusableError';
}

/**
 * Takes a data directory for this process, making it (0700) when there is none.
 * Two servers on one directory would each believe their own calls and clocks.
 *
 * The lock is SQLite's on a file of its own, so the system drops it with the
 * process, however that ends: there is no lock file that could be left behind.
 * The mode of a directory that exists already is its owner's business.
 */
export function lockDataDir(dir: string): { release(): void } {
  const file = join(dir, 'lock.db');
  try {
    makeDir(dir, 0o700);
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  } catch (error) {
    throw unusable(dir, error);
  }
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // guard: data-dir-locked
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    throw isLocked(error)
      ? new DataDirInUseError(
          `the data directory ${dir} is in use by another server; stop it, or set CALLBOARD_DATA_DIR to another directory`,
          { cause: error },
        )
      : unusable(dir, error);
  }
  return {
    release() {
      if (database.isOpen) database.close();
    },
  };
}

/** The same; a server that was there before may be on its way out. */
export const takeDataDir = (dir: string) =>
  retryWhileTaken(
    () => lockDataDir(dir),
    (error) => error instanceof DataDirInUseError,
  );

function unusable(dir: string, error: unknown): DataDirUnusableError {
  const reason = error instanceof Error ? error.message : String(error);
  return new DataDirUnusableError(
    `the data directory ${dir} cannot be used (${reason}); make it writable, or set CALLBOARD_DATA_DIR to another directory`,
    { cause: error },
  );
}

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
