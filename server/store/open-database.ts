import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { keepOlderFile } from './before-log/older-file.ts';
import { checkStoreFile, walFile } from './integrity/check-store-file.ts';
import { fileSize } from './integrity/file-bytes.ts';
import { defineRowChecksum } from './row-checksum.ts';
import { StoreDamagedError } from './store-errors.ts';
import { syncFile } from './store-mark.ts';

/**
 * FULL: a commit is on disk when it returns, which is what an acknowledgement
 * promises. No spilling: a transaction that is given up leaves nothing in the log.
 */
// guard: commit-is-synced
export const CONNECTION_PRAGMAS = `PRAGMA busy_timeout=5000; PRAGMA journal_mode=WAL;
  PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA cache_spill=OFF`;

/**
 * Opens the database, made when there is none, readable by its owner alone
 * (SQLite gives its WAL files the same mode), once all of it was found to be
 * what was written; of one that `isTrusted` that is found later. `log` is given
 * the note about a torn end of its log.
 */
export function openDatabase(
  file: string,
  { log, isTrusted }: { log(note: string): void; isTrusted: boolean },
): DatabaseSync {
  const check = checkStoreFile(file, { isTrusted });
  if (check.kind === 'damaged') throw new StoreDamagedError(file, check.problem);
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  keepOlderFile(file, log);
  const database = new DatabaseSync(file);
  try {
    defineRowChecksum(database);
    database.exec(CONNECTION_PRAGMAS);
    clearLog(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
  if (check.kind === 'whole' && check.droppedFrames > 0) {
    log(
      `the log of ${file} ended in the middle of a write that was never acknowledged; dropped ${check.droppedFrames} frames (${check.droppedBytes} bytes)`,
    );
  }
  return database;
}

/**
 * The frames of a torn end must not be met again: behind shorter writes
 * its frames would pass for a second torn end, and under the half-written header
 * of the next log for writes that are missing. So it is gone, on the disk too,
 * before anything is written.
 */
function clearLog(database: DatabaseSync, file: string): void {
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  if (fileSize(walFile(file)) !== undefined) syncFile(walFile(file));
}
