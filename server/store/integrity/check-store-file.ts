import { DatabaseSync } from 'node:sqlite';
import { OLDER_GUARDS } from '../before-log/older-call.ts';
import { hasOlderCalls } from '../before-log/older-file.ts';
import { MIGRATIONS } from '../migrations.ts';
import { GUARDS, rowChecksum, type TableGuards } from '../row-checksum.ts';
import { readSchema, schemaAfter } from '../schema.ts';
import { isDamage, isShortRead } from '../store-errors.ts';
import { markFile, positionOf, readMark } from '../store-mark.ts';
import { fileSize, withFile } from './file-bytes.ts';
import { scanWal, type WalSource } from './scan-wal.ts';
import { FRAME_HEADER_BYTES, parseFrameHeader, WAL_HEADER_BYTES } from './wal-format.ts';

export type StoreCheck =
  | { readonly kind: 'new' }
  | { readonly kind: 'whole'; readonly droppedFrames: number; readonly droppedBytes: number }
  /** `problem` names the place. */
  | { readonly kind: 'damaged'; readonly problem: string };

const damaged = (problem: string): StoreCheck => ({ kind: 'damaged', problem });

/** A rebuild makes this file, until it takes the place of the store. */
export const rebuiltFile = (file: string): string => `${file}.rebuilt`;
export const walFile = (file: string): string => `${file}-wal`;
/** A salvage makes this file, until it takes the place of the database. */
export const salvagedFile = (file: string): string => `${file}.salvaged`;
const rollbackFile = (file: string): string => `${file}-journal`;

/**
 * Judges a database before anything relies on it, and changes nothing but what
 * SQLite's first write had begun when it was cut short: first its log, byte by byte, as SQLite would silently drop what follows a bad frame; then,
 * through a connection that only reads, every page, index, row and the schema.
 * Of one that is trusted (rule ST60) only what is at once to be seen.
 */
export function checkStoreFile(file: string, { isTrusted = false } = {}): StoreCheck {
  // guard: commit-mark-read
  const acknowledged = readMark(file);
  if (fileSize(rollbackFile(file))) rollBack(file);
  const walSize = fileSize(walFile(file)) ?? 0;
  const size = fileSize(file);
  if (!size) return checkNothing(file, { size, walSize, acknowledged });
  // guard: log-scanned
  const log = walSize === 0 ? undefined : withFile(walFile(file), scanWal);
  if (log?.kind === 'damaged' && !(log.frame === 0 && wasBegunAnew(file))) {
    const place = log.frame === 0 ? 'its header' : `frame ${log.frame}`;
    return damaged(
      `${place} of the log ${walFile(file)} at byte ${log.at} is not what was written`,
    );
  }
  const problem =
    (walSize === 0 ? findCut(file, size) : undefined) ??
    findProblem(file, { acknowledged: acknowledged ?? 0, isTrusted });
  if (problem !== undefined) return damaged(problem);
  const { droppedFrames = 0, droppedBytes = 0 } = log?.kind === 'torn' ? log : {};
  return { kind: 'whole', droppedFrames, droppedBytes };
}

/** A database without a byte is a new one where nothing tells of an earlier one. */
function checkNothing(
  file: string,
  found: {
    readonly size: number | undefined;
    readonly walSize: number;
    readonly acknowledged: number | undefined;
  },
): StoreCheck {
  const { size, walSize, acknowledged } = found;
  const state = size === undefined ? 'it is missing' : 'it is empty (byte 0)';
  if (walSize > WAL_HEADER_BYTES) {
    return damaged(`${state}, while its log ${walFile(file)} has ${walSize} bytes`);
  }
  if (fileSize(salvagedFile(file)) !== undefined) {
    return damaged(`${state}, while a salvage that was cut short left ${salvagedFile(file)}`);
  }
  if (!acknowledged) return { kind: 'new' };
  return damaged(`${state}, while ${markFile(file)} tells of ${acknowledged} commits`);
}

/**
 * Until it has its log, a new database is written with a rollback journal. One
 * that a crash left is played back by the first who may write.
 */
function rollBack(file: string): void {
  const database = new DatabaseSync(file);
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch (error) {
    // The checks that follow tell what is wrong.
    if (!isDamage(error)) throw error;
  } finally {
    database.close();
  }
}

const wasBegunAnew = (file: string): boolean =>
  withFile(walFile(file), (log) => withFile(file, (database) => isLogInDatabase(log, database)));

/** Without a log, a database is as long as it says. SQLite tells only that something is wrong. */
function findCut(file: string, size: number): string | undefined {
  const header = withFile(file, (source) => source.read(0, 32));
  if (header.length < 32) return `it ends at byte ${size}, in the middle of its header`;
  const needed = header.readUInt16BE(16) * header.readUInt32BE(28);
  return size < needed ? `it ends at byte ${size} of ${needed}` : undefined;
}

/** Read-only, so that even closing it writes nothing. Undefined when all is as it was written. */
export function findProblem(
  file: string,
  { acknowledged = 0, isTrusted = false } = {},
): string | undefined {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    database.exec('PRAGMA busy_timeout=5000');
    // Rows that are taken over into the log are read first.
    const isRead = !isTrusted || hasOlderCalls(database);
    return (
      (isRead ? findBadPages(database) : undefined) ??
      findBadSchema(database, acknowledged) ??
      findMissingCommits(database, file, acknowledged) ??
      (isRead ? findBadRows(database) : undefined)
    );
  } catch (error) {
    if (!isDamage(error)) throw error;
    return isShortRead(error)
      ? `it ends at byte ${fileSize(file)}, in the middle of a row`
      : error.message;
  } finally {
    database.close();
  }
}

function findBadPages(database: DatabaseSync): string | undefined {
  const rows = database.prepare('PRAGMA integrity_check(3)').all();
  const text = rows.map((row) => String(row.integrity_check)).join('\n');
  if (text === 'ok') return undefined;
  const lines = text.split('\n').filter((line) => !line.startsWith('***'));
  return lines.slice(0, 3).join(', ');
}

/** Each item has to be there as the migrations make it; an operator may have added others. */
function findBadSchema(database: DatabaseSync, acknowledged: number): string | undefined {
  const done = readMigrations(database);
  const known = MIGRATIONS.filter(({ name }) => done.includes(name));
  const isNewer = done.length > known.length;
  if (isNewer && known.length < MIGRATIONS.length) {
    return `the table migrations tells of ${done.join(', ')}, which no version writes`;
  }
  const there = new Map(readSchema(database).map(({ name, sql }) => [name, sql]));
  // It was made, and its maker ended before it made a table.
  if (there.size === 0 && acknowledged === 0) return undefined;
  const wrong = isNewer
    ? undefined
    : schemaAfter(known.length).find(({ name, sql }) => there.get(name) !== sql);
  return wrong && `the definition of ${wrong.name} is not what was written`;
}

function readMigrations(database: DatabaseSync): string[] {
  const isThere = readSchema(database).some(({ name }) => name === 'migrations');
  if (!isThere) return [];
  return database
    .prepare('SELECT name FROM migrations ORDER BY name')
    .all()
    .map((row) => String(row.name));
}

function findMissingCommits(
  database: DatabaseSync,
  file: string,
  acknowledged: number,
): string | undefined {
  if (!hasChecksums(database)) return undefined; // Nothing was counted either.
  const held = positionOf(database);
  return held < acknowledged
    ? `it ends at position ${held}, while ${markFile(file)} tells of ${acknowledged} (delete that file if this older copy is meant)`
    : undefined;
}

/** Not in a store of before, nor in one of a newer version, which is refused as such, later. */
function hasChecksums(database: DatabaseSync): boolean {
  const done = readMigrations(database);
  return done.includes('002_checksums') && done.length <= MIGRATIONS.length;
}

function findBadRows(database: DatabaseSync): string | undefined {
  if (!hasChecksums(database)) return undefined;
  // guard: row-checksums-compared
  const rows = findDamagedRows(database);
  if (rows.length === 0) return undefined;
  const more = rows.length > 3 ? ` and ${rows.length - 3} more` : '';
  return `${rows.slice(0, 3).join(', ')}${more} is not what was written`;
}

/** The keys of rows whose checksum is wrong; all rows are read. */
function findDamagedRows(database: DatabaseSync): string[] {
  const tables = Object.entries({ ...OLDER_GUARDS, ...GUARDS });
  return tables.flatMap(([table, guarded]) => [...damagedRowsOf(database, table, guarded)]);
}

function* damagedRowsOf(
  database: DatabaseSync,
  table: string,
  { key, guards }: TableGuards,
): Generator<string> {
  const there = columnsOf(database, table);
  // A store of before may not have the table yet, nor each column: those count as null.
  if (there.size === 0) return;
  const columns = guards.flatMap(({ sum, of }) => [sum, ...of]);
  const selected = columns.map((column) => (there.has(column) ? column : 'NULL'));
  const rows = database.prepare(`SELECT ${[...selected, ...key].join(', ')} FROM ${table}`);
  // Plain lists: a third less time than objects for a table that is read to its end.
  rows.setReturnArrays(true);
  for (const row of rows.iterate() as Iterable<unknown>) {
    if (Array.isArray(row) && !areWhole(guards, row)) {
      yield `the row ${row.slice(columns.length).join(' ')} of ${table}`;
    }
  }
}

const columnsOf = (database: DatabaseSync, table: string): Set<string> =>
  new Set(
    database
      .prepare('SELECT name FROM pragma_table_info(?)')
      .all(table)
      .map(({ name }) => String(name)),
  );

function areWhole(guards: readonly { of: readonly string[] }[], row: readonly unknown[]): boolean {
  let at = 0;
  for (const { of } of guards) {
    const end = at + 1 + of.length;
    if (row[at] !== rowChecksum(row.slice(at + 1, end))) return false;
    at = end;
  }
  return true;
}

/**
 * Says whether the database already holds all that a log says whose header cannot be
 * read. SQLite begins a log anew, header first, once every page of the old one
 * is in the database; a power loss in that moment leaves the old frames under
 * half a header, and nothing is missing.
 */
export function isLogInDatabase(log: WalSource, database: WalSource): boolean {
  const pageSize = pageSizeOf(database);
  if (pageSize === undefined) return false;
  const { places, pages } = lastCommit(log, pageSize);
  // One that holds all of its log was brought to this length; garbage does not tell it.
  if (pages === 0 || pages * pageSize !== database.size) return false;
  return [...places].every(([page, at]) => {
    if (page > pages) return true; // Of a database that was longer then.
    const held = database.read((page - 1) * pageSize, pageSize);
    return held.equals(log.read(at, pageSize));
  });
}

/** By page, where its newest committed content lies; and how many pages the last commit left. */
function lastCommit(log: WalSource, pageSize: number) {
  const places = new Map<number, number>();
  let open = new Map<number, number>();
  let pages = 0;
  let salts: string | undefined;
  const frameBytes = FRAME_HEADER_BYTES + pageSize;
  for (let at = WAL_HEADER_BYTES; at + frameBytes <= log.size; at += frameBytes) {
    const frame = parseFrameHeader(log.read(at, FRAME_HEADER_BYTES), 0);
    salts ??= frame.salts;
    if (frame.salts !== salts) break; // What follows is of a log before that one.
    open.set(frame.page, at + FRAME_HEADER_BYTES);
    if (frame.pagesAfter === 0) continue;
    for (const [page, place] of open) places.set(page, place);
    open = new Map();
    pages = frame.pagesAfter;
  }
  return { places, pages };
}

function pageSizeOf(database: WalSource): number | undefined {
  const bytes = database.read(16, 2);
  if (bytes.length < 2) return undefined;
  const size = bytes.readUInt16BE(0);
  if (size === 1) return 65_536;
  return size >= 512 && (size & (size - 1)) === 0 ? size : undefined;
}
