import type { WalSource } from './scan-wal.ts';
import { FRAME_HEADER_BYTES, parseFrameHeader, WAL_HEADER_BYTES } from './wal-format.ts';

/**
 * Whether the database already holds all that a log says whose header cannot be
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
