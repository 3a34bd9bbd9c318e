import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
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
function makeDir(dir: string, mode: number): void {
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

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** More than a log and what the next commits need, so that a start is worth it. */
const PROBE_BYTES = 8 * 1024 * 1024;

/**
 * Resolves once the disk takes a file and syncs it again, asked after 1, 2, 4 … 30
 * seconds; never before the first pause. It touches no file of the store.
 */
export async function untilWritable(deps: {
  readonly dir: string;
  readonly pause: (ms: number) => Promise<void>;
}): Promise<void> {
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    await deps.pause(ms);
    if (await isWritable(join(deps.dir, 'disk-probe.tmp'))) return;
  }
}

async function isWritable(probe: string): Promise<boolean> {
  try {
    const file = await open(probe, 'w', 0o600);
    try {
      await file.writeFile(Buffer.alloc(PROBE_BYTES, 1));
      await file.sync();
    } finally {
      await file.close();
    }
    return true;
  } catch {
    return false; // Still so: asked again after the next pause.
  } finally {
    await rm(probe, { force: true }).catch(() => {}); // The next probe writes over it.
  }
}
