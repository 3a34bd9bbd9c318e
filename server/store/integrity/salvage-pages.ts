import { closeSync, copyFileSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { walFile } from './check-store-file.ts';
import { fileSize, withFile } from './file-bytes.ts';
import { type ScannedFrame, type WalSource, walFrames } from './scan-wal.ts';
import {
  FRAME_HEADER_BYTES,
  guessWalHeader,
  PAGE_BYTES,
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
  /** They hold nothing any more; undefined says that it is not known which pages these are. */
  readonly freePages: ReadonlySet<number> | undefined;
}

/**
 * Makes one file of a database and its log, with every frame of the log that is
 * whole, also of those that SQLite would drop behind a bad one; and puts the header in order.
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

/** Writes what is the same in every database of ours (sqlite.org/fileformat2.html#the_database_header). */
function repairHeader(handle: number): void {
  const header = Buffer.alloc(100);
  if (readSync(handle, header, 0, 100, 0) < 100) return;
  header.write('SQLite format 3\0', 0, 'latin1');
  header.writeUInt16BE(PAGE_BYTES, 16);
  header.set([1, 1, 0, 64, 32, 32], 18); // It is read and written without a log.
  header.fill(0, 28, 40); // Size and free pages: SQLite takes the size of the file.
  header.writeUInt32BE(4, 44);
  header.fill(0, 48, 56);
  header.writeUInt32BE(1, 56);
  header.fill(0, 60, 92);
  writeSync(handle, header, 0, 100, 0);
}
