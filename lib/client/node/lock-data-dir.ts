import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another program runs as this client. */
export class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError';
}

export interface DataDirLock {
  release(): void;
}

/** SQLite's number for a file that another program has locked. */
const SQLITE_BUSY = 5;
/** A program that was just ended may hold it for a moment longer. */
const WAIT_MS = 500;

/**
 * Takes a client's directory for this program alone, making it (0700) when there is none.
 *
 * Node has no lock on files of its own, and a file that merely names a process
 * outlives it. The lock is SQLite's on an empty file (`fcntl` on Linux and
 * macOS, `LockFileEx` on Windows), so the system drops it with the process,
 * however that ends. Its limits are those of such locks: on a network drive
 * that does not carry them, two computers are not kept apart.
 */
export function lockDataDir(dir: string): DataDirLock {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, 'lock.db');
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const database = new DatabaseSync(path, { timeout: WAIT_MS });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    throw isBusy(error) ? inUse(dir) : error;
  }
  return {
    release() {
      if (database.isOpen) database.close();
    },
  };
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;

const inUse = (dir: string): DataDirInUseError =>
  new DataDirInUseError(
    `${dir} is in use by another program, which runs as this client already; stop that one, or give this one a dataDir of its own`,
  );
