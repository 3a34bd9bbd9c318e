import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { formatBytes } from '#lib/format/format-bytes';
import { fileSize } from '../integrity/file-bytes.ts';
import { syncDirectory } from '../store-mark.ts';

/** A store of a version before the log cannot be taken over; the message says what can be done. */
export class StoreNotMovedError extends Error {
  override readonly name = 'StoreNotMovedError';
}

/** The store as the older version left it, until all of it is in the log. */
export const olderFile = (file: string): string => `${file}.before-log`;

/** Whether there are calls in the tables of before. */
export function hasOlderCalls(database: DatabaseSync): boolean {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'tool_calls'").get();
  return !!isThere && !!database.prepare('SELECT 1 FROM tool_calls LIMIT 1').get();
}

const isBegun = (database: DatabaseSync): boolean =>
  database.prepare("SELECT 1 FROM migrations WHERE name = '021_log'").get() !== undefined;

/**
 * Keeps a copy of a store of before, as long as nothing of it is changed. To be called while no
 * connection to the file is open: its locks would be gone once the file was read beside it.
 */
export function keepOlderFile(file: string, log: (note: string) => void, freeIn = freeBytes): void {
  if (!fileSize(file)) return;
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA busy_timeout=5000');
    if (!hasOlderCalls(database)) return;
    refuseWithoutRoom(file, isBegun(database), freeIn(dirname(file)));
    if (isBegun(database)) return; // It was kept then.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    database.close(); // Which takes its log away, too.
  }
  log(
    `the database ${file} is of an older version; until its calls are in the log it is kept as ${olderFile(file)}`,
  );
  const unfinished = `${olderFile(file)}.unfinished`;
  copyFileSync(file, unfinished, constants.COPYFILE_FICLONE);
  const copy = openSync(unfinished, 'r+');
  try {
    fsyncSync(copy);
  } finally {
    closeSync(copy);
  }
  renameSync(unfinished, olderFile(file));
  syncDirectory(dirname(file));
}

function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

/** It takes as much again for the copy, and as much for the log, which has all that the calls came to. */
function refuseWithoutRoom(file: string, isKept: boolean, free: number): void {
  const size = fileSize(file) ?? 0;
  const older = isKept ? (fileSize(olderFile(file)) ?? size) : size;
  const needed = (isKept ? 0 : older) + Math.max(0, 2 * older - size);
  if (free >= needed) return;
  throw new StoreNotMovedError(
    `the database ${file} is of an older version, and to take it over ${formatBytes(needed, 'en')} are needed beside it, of which ${formatBytes(free, 'en')} are free; make room, or go on with the older version`,
  );
}

export interface CallCounts {
  readonly calls: number;
  readonly open: number;
}

export const COUNT_OLDER = `SELECT count(*) AS calls,
  coalesce(sum(status IN ('PENDING', 'RUNNING')), 0) AS open FROM tool_calls`;

export function countBy(database: DatabaseSync, sql: string): CallCounts {
  const counts = database.prepare(sql).get();
  return { calls: Number(counts?.calls), open: Number(counts?.open) };
}

/** Those of the copy, where there is one. Nothing is written for that, also beside it. */
export function countOlderCalls(file: string | null): CallCounts | undefined {
  if (file === null || fileSize(olderFile(file)) === undefined) return undefined;
  const database = new DatabaseSync(`${pathToFileURL(olderFile(file))}?immutable=1`, {
    readOnly: true,
  });
  try {
    return countBy(database, COUNT_OLDER);
  } finally {
    database.close();
  }
}

/** To be called once all of it is in the log, on disk. */
export function dropOlderFile(file: string): void {
  for (const name of [olderFile(file), `${olderFile(file)}.unfinished`]) {
    rmSync(name, { force: true });
  }
}
