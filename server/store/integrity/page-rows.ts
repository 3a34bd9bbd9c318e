import type { WalSource } from './scan-wal.ts';
import { type RecordValue, readRecord, readVarint } from './sqlite-record.ts';

/** The only page size that this store writes. */
export const PAGE_BYTES = 4_096;

/** A row where it lies, whatever leads there. */
export interface PageRow {
  /** Undefined for a row of a table without rowids, and for an entry of an index. */
  readonly rowid: number | undefined;
  readonly values: readonly RecordValue[];
}

interface PageKind {
  /** Before its first place of a cell. */
  readonly headerBytes: number;
  /** Before the size of a cell's payload. */
  readonly childBytes: number;
  readonly hasRowids: boolean;
  /** A payload that is longer goes on elsewhere. */
  readonly longest: number;
}

/** The kinds of pages that hold rows, by their first byte (sqlite.org/fileformat2.html#b_tree_pages). */
const KINDS = new Map<number, PageKind>([
  [0x0d, { headerBytes: 8, childBytes: 0, hasRowids: true, longest: PAGE_BYTES - 35 }],
  [0x0a, { headerBytes: 8, childBytes: 0, hasRowids: false, longest: longestInIndex() }],
  [0x02, { headerBytes: 12, childBytes: 4, hasRowids: false, longest: longestInIndex() }],
]);

function longestInIndex(): number {
  return Math.floor(((PAGE_BYTES - 12) * 64) / 255) - 23;
}

/** Of a payload that goes on elsewhere, at least this much is in its cell. */
const SHORTEST = Math.floor(((PAGE_BYTES - 12) * 32) / 255) - 23;
const OVERFLOW_BYTES = PAGE_BYTES - 4;

/** The rows, with or without rowids, that a page holds, as far as they can be read; none for a page that holds something else. */
export function* rowsOfPage(
  database: WalSource,
  page: number,
  hasRowids: boolean,
): Generator<PageRow> {
  const bytes = database.read((page - 1) * PAGE_BYTES, PAGE_BYTES);
  const kind = KINDS.get(bytes[0] ?? 0);
  if (kind?.hasRowids !== hasRowids || bytes.length < PAGE_BYTES) return;
  const cells = bytes.readUInt16BE(3);
  const end = Math.min(kind.headerBytes + 2 * cells, PAGE_BYTES - 1);
  for (let at = kind.headerBytes; at < end; at += 2) {
    const row = readCell(database, bytes, bytes.readUInt16BE(at), kind);
    if (row) yield row;
  }
}

function readCell(
  database: WalSource,
  page: Buffer,
  at: number,
  kind: PageKind,
): PageRow | undefined {
  const size = readVarint(page, at + kind.childBytes);
  if (!size || size.value > database.size) return undefined;
  const rowid = kind.hasRowids ? readVarint(page, size.end) : undefined;
  if (kind.hasRowids && !rowid) return undefined;
  const payload = readPayload(database, page, {
    at: rowid?.end ?? size.end,
    size: size.value,
    local: localSize(size.value, kind.longest),
  });
  const values = payload && readRecord(payload);
  return values && { rowid: rowid?.value, values };
}

function localSize(size: number, longest: number): number {
  if (size <= longest) return size;
  const fitting = SHORTEST + ((size - SHORTEST) % OVERFLOW_BYTES);
  return fitting <= longest ? fitting : SHORTEST;
}

/** Follows what a cell could not hold from page to page. */
function readPayload(
  database: WalSource,
  page: Buffer,
  { at, size, local }: { readonly at: number; readonly size: number; readonly local: number },
): Buffer | undefined {
  const isShort = local === size;
  if (at + local + (isShort ? 0 : 4) > page.length) return undefined;
  const parts = [page.subarray(at, at + local)];
  let missing = size - local;
  let next = isShort ? 0 : page.readUInt32BE(at + local);
  while (missing > 0) {
    const bytes = next > 1 ? database.read((next - 1) * PAGE_BYTES, PAGE_BYTES) : Buffer.alloc(0);
    if (bytes.length < PAGE_BYTES) return undefined;
    parts.push(bytes.subarray(4, 4 + missing));
    missing -= OVERFLOW_BYTES;
    next = bytes.readUInt32BE(0);
  }
  return parts.length === 1 ? parts[0] : Buffer.concat(parts);
}
