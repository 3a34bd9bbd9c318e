import { constants, copyFileSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { formatBytes } from '#lib/format/amounts';
import { fileSize } from '../integrity/file-bytes.ts';
import { syncDirectory, syncFile } from '../store-mark.ts';
/** A store of a version before the log cannot be taken over; the message says what can be done. */
export class StoreNotMovedError extends Error {
  override readonly name = 'StoreNotMovedError';
}

/** The store as the older version left it, until all of it is in the log. */
export const olderFile = (file: string): string => `${file}.before-log`;
const unfinishedFile = (file: string): string => `${olderFile(file)}.unfinished`;

/** Says whether there are calls in the tables of before. */
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
  const state = withDatabase(
    file,
    true,
    (older) => hasOlderCalls(older) && { isKept: isBegun(older) },
  );
  if (!state) return;
  // From here on its log is in it.
  withDatabase(file, false, (older) => older.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
  refuseWithoutRoom(file, state.isKept, freeIn(dirname(file)));
  if (state.isKept) return;
  log(
    `the database ${file} is of an older version; until its calls are in the log it is kept as ${olderFile(file)}`,
  );
  copyFileSync(file, unfinishedFile(file), constants.COPYFILE_FICLONE);
  syncFile(unfinishedFile(file));
  renameSync(unfinishedFile(file), olderFile(file));
  syncDirectory(dirname(file));
}

function withDatabase<T>(name: string, readOnly: boolean, use: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(name, { readOnly, timeout: 5_000 });
  try {
    return use(database);
  } finally {
    database.close();
  }
}

function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

/** It takes as much again for the copy, and less than that for what the log has more than the tables. */
function refuseWithoutRoom(file: string, isKept: boolean, free: number): void {
  const size = fileSize(file) ?? 0;
  const older = isKept ? (fileSize(olderFile(file)) ?? size) : size;
  const needed = (isKept ? 0 : older) + Math.max(0, 2 * older - size);
  if (free >= needed) return;
  throw new StoreNotMovedError(
    `the database ${file} is of an older version, and to take it over ${formatBytes(needed, 'en')} are needed beside it, of which ${formatBytes(free, 'en')} are free; make room, or go on with the older version`,
  );
}

type CallCounts = Readonly<Record<'calls' | 'open', number>>;

export function countBy(database: DatabaseSync, sql: string): CallCounts {
  const counts = database.prepare(sql).get();
  return { calls: Number(counts?.calls), open: Number(counts?.open) };
}

export const COUNT_OLDER = `SELECT count(*) AS calls,
  coalesce(sum(status IN ('PENDING', 'RUNNING')), 0) AS open FROM tool_calls`;

/** Counts the calls of the copy, where there is one. Nothing is written for that, also beside it. */
export function countOlderCalls(file: string | null): CallCounts | undefined {
  if (file === null || fileSize(olderFile(file)) === undefined) return undefined;
  const name = `${pathToFileURL(olderFile(file))}?immutable=1`;
  return withDatabase(name, true, (older) => countBy(older, COUNT_OLDER));
}

/** To be called once all of it is in the log, on disk. */
export function dropOlderFile(file: string): void {
  for (const name of [olderFile(file), unfinishedFile(file)]) rmSync(name, { force: true });
}
