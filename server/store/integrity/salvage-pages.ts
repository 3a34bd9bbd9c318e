import { closeSync, copyFileSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { MIGRATIONS } from '../migrations.ts';
import { BEFORE_MOVE, readSchema, type SchemaItem, schemaAfter } from '../schema.ts';
import { isDamage } from '../store-errors.ts';
import { walFile } from './check-store-file.ts';
import { fileSize, withFile } from './file-bytes.ts';
import { PAGE_BYTES } from './page-rows.ts';
import { type ScannedFrame, type WalSource, walFrames } from './scan-wal.ts';
import {
  FRAME_HEADER_BYTES,
  guessWalHeader,
  parseWalHeader,
  WAL_HEADER_BYTES,
} from './wal-format.ts';

const FIRST_TRUNK_AT = 32;
const COUNT_AT = 36;
const MAX_LEAVES = PAGE_BYTES / 4 - 2;

/**
 * The pages that a database has and does not use, which still show what they
 * held once (sqlite.org/fileformat2.html#the_freelist). Undefined when their list
 * is damaged.
 */
function readFreePages(database: WalSource): ReadonlySet<number> | undefined {
  const header = database.read(0, COUNT_AT + 4);
  if (header.length < COUNT_AT + 4) return undefined;
  const free = new Set<number>();
  const pages = Math.floor(database.size / PAGE_BYTES);
  const add = (page: number): boolean => {
    const isNews = page > 1 && page <= pages && !free.has(page);
    free.add(page);
    return isNews;
  };
  for (let trunk = header.readUInt32BE(FIRST_TRUNK_AT); trunk !== 0; ) {
    if (!add(trunk)) return undefined;
    const bytes = database.read((trunk - 1) * PAGE_BYTES, PAGE_BYTES);
    const leaves = bytes.readUInt32BE(4);
    if (leaves > MAX_LEAVES) return undefined;
    for (let leaf = 0; leaf < leaves; leaf += 1) {
      if (!add(bytes.readUInt32BE(8 + 4 * leaf))) return undefined;
    }
    trunk = bytes.readUInt32BE(0);
  }
  return free.size === header.readUInt32BE(COUNT_AT) ? free : undefined;
}

export interface AssembledPages {
  /** How many stay as they were before a write of theirs that is unreadable. */
  readonly stalePages: number;
  /** Those that hold nothing any more; undefined when it is not known which they are. */
  readonly freePages: ReadonlySet<number> | undefined;
}

/**
 * Makes one file of a database and its log, with every frame of the log that is
 * whole, also of those that SQLite would drop behind a bad one; and puts what
 * every file of ours has in common (its header, its schema) in order.
 */
export function assemblePages(file: string, target: string): AssembledPages {
  if (fileSize(file) === undefined) closeSync(openSync(target, 'w', 0o600));
  else copyFileSync(file, target);
  const handle = openSync(target, 'r+');
  let stalePages = 0;
  let freePages: AssembledPages['freePages'];
  try {
    if ((fileSize(walFile(file)) ?? 0) > WAL_HEADER_BYTES + FRAME_HEADER_BYTES) {
      stalePages = withFile(walFile(file), (wal) => applyLog(wal, handle));
    }
    // Beside pages of an earlier state their list may be one, too.
    if (stalePages === 0) freePages = withFile(target, readFreePages);
    repairHeader(handle);
  } finally {
    closeSync(handle);
  }
  repairSchema(target);
  return { stalePages, freePages };
}

/** Returns how many pages stay as they were before a write of theirs that is unreadable. */
function applyLog(wal: WalSource, target: number): number {
  const bytes = wal.read(0, WAL_HEADER_BYTES);
  const header =
    parseWalHeader(bytes) ??
    guessWalHeader(bytes, wal.read(WAL_HEADER_BYTES, FRAME_HEADER_BYTES), PAGE_BYTES);
  const log = createCommittedPages();
  for (const frame of walFrames(wal, header)) if (frame.ofThisLog) log.add(frame);
  const { pages, stale, pagesAfter } = log.end();
  for (const [page, at] of pages) {
    const content = wal.read(at + FRAME_HEADER_BYTES, header.pageSize);
    writeSync(target, content, 0, content.length, (page - 1) * header.pageSize);
  }
  if (pagesAfter > 0) ftruncateSync(target, pagesAfter * header.pageSize);
  return stale.size;
}

/** The newest whole version of each page, of transactions that were committed. */
function createCommittedPages() {
  const pages = new Map<number, number>();
  const stale = new Set<number>();
  let pagesAfter = 0;
  let open: ScannedFrame[] = [];
  let ended = false;

  function settle(): void {
    for (const frame of open) {
      if (!frame.whole) {
        stale.add(frame.page);
        continue;
      }
      stale.delete(frame.page);
      pages.set(frame.page, frame.at);
      if (frame.pagesAfter > 0) ({ pagesAfter } = frame);
    }
    open = [];
    ended = false;
  }

  return {
    add(frame: ScannedFrame): void {
      if (ended) settle(); // Something came after it, so it was fsynced.
      open.push({ ...frame, content: Buffer.alloc(0) });
      ended = frame.pagesAfter > 0;
    },
    end() {
      // The last one counts when it is whole; else it was never acknowledged.
      if (ended && open.every((frame) => frame.good)) settle();
      return { pages, stale, pagesAfter };
    },
  };
}

/** What is the same in every database of ours (sqlite.org/fileformat2.html#the_database_header). */
function repairHeader(handle: number): void {
  const header = Buffer.alloc(100);
  if (readSync(handle, header, 0, 100, 0) < 100) return;
  header.write('SQLite format 3\0', 0, 'latin1');
  header.writeUInt16BE(PAGE_BYTES, 16);
  header.set([2, 2, 0, 64, 32, 32], 18);
  header.fill(0, 28, 40); // Size and free pages: SQLite takes the size of the file.
  header.writeUInt32BE(4, 44);
  header.fill(0, 48, 56);
  header.writeUInt32BE(1, 56);
  header.fill(0, 60, 92);
  writeSync(handle, header, 0, 100, 0);
}

/** Those that are made in a file that is still empty. What later ones add lies where there was room. */
const FIRST_MIGRATIONS = 2;

/** By what their definitions say, as far as these can be read: one place alone does not decide. */
function countMigrations(there: readonly SchemaItem[]): number {
  const reads = (...texts: string[]) =>
    there.some(({ sql }) => texts.some((text) => sql?.includes(text)));
  const isBeforeLog = reads('call_events', 'device_left_ms', 'parent_call_id');
  if (reads('open_calls', 'log_of_call', 'calls_by_end')) {
    return isBeforeLog ? BEFORE_MOVE.length : MIGRATIONS.length;
  }
  if (isBeforeLog) return BEFORE_MOVE.length - 1;
  return reads('fixed_checksum') ? FIRST_MIGRATIONS : 1;
}

/**
 * The definitions of the tables that the first migrations make. They are in the
 * same places in every file, so what a flipped bit made of them does not matter.
 * Indexes of later ones go: no row is read by them, and theirs may be damaged; but
 * for the one that tells how many rows the log had. Of a later table nothing says
 * where it begins; it has its definition by its name.
 */
function repairSchema(target: string): void {
  const database = new DatabaseSync(target, { defensive: false });
  try {
    database.exec('PRAGMA writable_schema=ON');
    const there = new Map(readSchema(database).map((item) => [item.rowid, item]));
    const done = countMigrations([...there.values()]);
    const update = database.prepare(
      'UPDATE sqlite_schema SET type = ?, name = ?, tbl_name = ?, rootpage = ?, sql = ? WHERE rowid = ?',
    );
    const last = Math.max(...schemaAfter(FIRST_MIGRATIONS).map(({ rowid }) => rowid));
    const first = schemaAfter(done).filter(({ rowid }) => rowid <= last);
    database
      .prepare(
        "DELETE FROM sqlite_schema WHERE rowid > ? AND type IS NOT 'table' AND name IS NOT 'log_of_call'",
      )
      .run(last);
    for (const { type, name, sql } of schemaAfter(done).filter(({ rowid }) => rowid > last)) {
      database
        .prepare('UPDATE sqlite_schema SET sql = ? WHERE name = ? AND type = ?')
        .run(sql, name, type);
    }
    for (const item of first) {
      const { rowid, type, name, tbl_name, rootpage, sql } = item;
      const found = there.get(rowid);
      if (found && found.sql === sql && found.rootpage === rootpage && found.name === name)
        continue;
      update.run(type, name, tbl_name, rootpage, sql, rowid);
    }
  } catch (error) {
    if (!isDamage(error)) throw error; // Beyond mending: then little or nothing will be read.
  } finally {
    database.close();
  }
}
