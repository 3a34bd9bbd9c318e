/**
 * The bytes of SQLite's write-ahead log (sqlite.org/fileformat2.html#walformat).
 * Salts are kept as one hex text, checksums as two numbers of 32 bits.
 */
export const WAL_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;
/** The only page size that this store writes. */
export const PAGE_BYTES = 4_096;

/** Its checksums read the bytes as little-endian words, as the processors do that this runs on. */
const MAGIC = 0x377f0682;
const VERSION = 3_007_000;

export type WalChecksum = readonly [number, number];

export interface WalHeader {
  readonly pageSize: number;
  readonly salts: string;
  /** The first frame may go on with one of these. */
  readonly seeds: readonly WalChecksum[];
}

export interface WalFrame {
  readonly page: number;
  /** Pages of the database after the commit that ends with this frame; 0 when it ends none. */
  readonly pagesAfter: number;
  readonly salts: string;
  readonly checksum: WalChecksum;
}

/** Undefined when the header is not one that SQLite would take. */
export function parseWalHeader(bytes: Buffer): WalHeader | undefined {
  if (bytes.length < WAL_HEADER_BYTES) return undefined;
  const magic = bytes.readUInt32BE(0);
  const pageSize = bytes.readUInt32BE(8);
  const isPageSize = pageSize >= 512 && pageSize <= 65_536 && (pageSize & (pageSize - 1)) === 0;
  if (magic !== MAGIC || bytes.readUInt32BE(4) !== VERSION || !isPageSize) {
    return undefined;
  }
  const checksum: WalChecksum = [bytes.readUInt32BE(24), bytes.readUInt32BE(28)];
  const computed = addChecksum([0, 0], bytes, 0, 24);
  if (!isSameChecksum(checksum, computed)) return undefined;
  return { pageSize, salts: bytes.toString('hex', 16, 24), seeds: [checksum] };
}

/** A header for frames whose own is damaged, so that they can be read all the same. */
export function guessWalHeader(bytes: Buffer, firstFrame: Buffer, pageSize: number): WalHeader {
  const { salts } = parseFrameHeader(firstFrame, 0);
  const stored: WalChecksum = [bytes.readUInt32BE(24), bytes.readUInt32BE(28)];
  return {
    pageSize,
    salts,
    seeds: [stored, addChecksum([0, 0], bytes, 0, 24)],
  };
}

export const parseFrameHeader = (bytes: Buffer, at: number): WalFrame => ({
  page: bytes.readUInt32BE(at),
  pagesAfter: bytes.readUInt32BE(at + 4),
  salts: bytes.toString('hex', at + 8, at + 16),
  checksum: [bytes.readUInt32BE(at + 16), bytes.readUInt32BE(at + 20)],
});

/** Gives the checksum that a frame has to have when `before` is that of the frame (or header) before it. */
export const frameChecksum = (
  before: WalChecksum,
  bytes: Buffer,
  at: number,
  { pageSize }: WalHeader,
): WalChecksum =>
  addChecksum(addChecksum(before, bytes, at, 8), bytes, at + FRAME_HEADER_BYTES, pageSize);

export const isSameChecksum = (a: WalChecksum, b: WalChecksum): boolean =>
  a[0] === b[0] && a[1] === b[1];

function addChecksum(before: WalChecksum, bytes: Buffer, at: number, length: number): WalChecksum {
  const words = wordsOf(bytes, at, length);
  let [a, b] = before;
  for (let index = 0; index < words.length; index += 2) {
    a = (a + (words[index] ?? 0) + b) | 0;
    b = (b + (words[index + 1] ?? 0) + a) | 0;
  }
  return [a >>> 0, b >>> 0];
}

/** Without a copy where the bytes lie as the processor wants them, which is nearly always. */
function wordsOf(bytes: Buffer, at: number, length: number): Int32Array {
  const start = bytes.byteOffset + at;
  if (start % 4 === 0) return new Int32Array(bytes.buffer, start, length / 4);
  return new Int32Array(new Uint8Array(bytes.subarray(at, at + length)).buffer);
}
