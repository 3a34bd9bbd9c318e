import {
  FRAME_HEADER_BYTES,
  frameChecksum,
  isSameChecksum,
  parseFrameHeader,
  parseWalHeader,
  WAL_HEADER_BYTES,
  type WalFrame,
  type WalHeader,
} from './wal-format.ts';

/** The bytes of a log, wherever they lie. `read` gives fewer than asked for only at the end. */
export interface WalSource {
  readonly size: number;
  read(at: number, length: number): Buffer;
}

/** One frame as it is met. */
export interface ScannedFrame extends WalFrame {
  /** From 1, as SQLite counts. */
  readonly number: number;
  /** Where it begins in the file. */
  readonly at: number;
  /** Written in this generation of the log: its salts are the header's, or its checksum proves it. */
  readonly ofThisLog: boolean;
  /** Page and content are what was written. */
  readonly whole: boolean;
  /** `whole`, and SQLite takes it for one of this log. */
  readonly good: boolean;
  /** Not there to its end. */
  readonly cut: boolean;
  readonly content: Buffer;
}

/**
 * SQLite takes a log up to its first bad frame and says nothing of the rest, so
 * one flipped bit would undo commits that were acknowledged. Every commit is
 * fsynced before the next one begins, so a power loss can tear the last
 * transaction only: a bad frame of an earlier one is damage.
 */
export type WalScan =
  /** Nothing is missing. */
  | { readonly kind: 'intact'; readonly frames: number }
  /** A last transaction that never was acknowledged; SQLite drops it by itself. */
  | {
      readonly kind: 'torn';
      readonly frames: number;
      readonly droppedFrames: number;
      readonly droppedBytes: number;
    }
  | { readonly kind: 'damaged'; readonly frame: number; readonly at: number };

export function scanWal(source: WalSource): WalScan {
  if (source.size <= WAL_HEADER_BYTES) return { kind: 'intact', frames: 0 };
  const header = parseWalHeader(source.read(0, WAL_HEADER_BYTES));
  // Fsynced before the first frame: over frames, it is torn only where the log began anew.
  if (!header) return { kind: 'damaged', frame: 0, at: 0 };
  const tail = createTail();
  let committed = 0;
  for (const frame of walFrames(source, header)) {
    if (tail.add(frame)) committed = frame.number;
    const proof = tail.damage();
    if (proof) return { kind: 'damaged', frame: proof.number, at: proof.at };
  }
  const { frames, bytes } = tail.dropped();
  if (frames === 0) return { kind: 'intact', frames: committed };
  return { kind: 'torn', frames: committed, droppedFrames: frames, droppedBytes: bytes };
}

/** Follows what comes after the last whole commit, and knows when it cannot be one transaction. */
function createTail() {
  let firstBad: ScannedFrame | undefined;
  let frames = 0;
  let bytes = 0;
  let ended = false;
  let proven = false;
  const pages = new Set<number>();

  return {
    /** True when the frame ends a transaction that is whole. */
    add(frame: ScannedFrame): boolean {
      if (!frame.good) firstBad ??= frame;
      if (!frame.ofThisLog) return false;
      // A transaction writes each page once and ends with its commit: more is a later transaction.
      if (firstBad) proven ||= ended || (frame.whole && pages.has(frame.page));
      frames += 1;
      bytes += FRAME_HEADER_BYTES + frame.content.length;
      if (frame.whole) pages.add(frame.page);
      ended ||= frame.pagesAfter !== 0 && (frame.whole || isInOneSector(frame));
      if (firstBad || frame.pagesAfter === 0) return false;
      frames = 0;
      bytes = 0;
      ended = false;
      pages.clear();
      return true;
    },
    damage: () => (proven ? firstBad : undefined),
    dropped: () => ({ frames, bytes }),
  };
}

/** The least that a disk writes whole or not at all. */
const SECTOR_BYTES = 512;
const UP_TO_SALTS_BYTES = 16;

/** Otherwise a power loss may leave the right salts beside a first half of garbage. */
const isInOneSector = ({ at }: ScannedFrame): boolean =>
  (at % SECTOR_BYTES) + UP_TO_SALTS_BYTES <= SECTOR_BYTES;

const CHUNK_BYTES = 1024 * 1024;

/** Every frame that lies in the file, those of earlier generations of the log too. */
export function* walFrames(source: WalSource, header: WalHeader): Generator<ScannedFrame> {
  const size = FRAME_HEADER_BYTES + header.pageSize;
  const perChunk = Math.max(1, Math.floor(CHUNK_BYTES / size));
  const classify = createClassifier(header);
  let number = 0;
  for (let at = WAL_HEADER_BYTES; at < source.size; at += perChunk * size) {
    const chunk = source.read(at, perChunk * size);
    for (let offset = 0; offset + FRAME_HEADER_BYTES <= chunk.length; offset += size) {
      number += 1;
      yield classify(chunk, offset, number, at + offset);
    }
  }
}

/**
 * A checksum covers all that was written before it too. After a bad frame the
 * chain goes on from what that frame says its checksum is, or should have been:
 * one of both is right when one place is damaged.
 */
function createClassifier(header: WalHeader) {
  let seeds = header.seeds;
  let previousIsGood = true;
  return (chunk: Buffer, offset: number, number: number, at: number): ScannedFrame => {
    const frame = parseFrameHeader(chunk, offset);
    const content = chunk.subarray(offset + FRAME_HEADER_BYTES).subarray(0, header.pageSize);
    const cut = content.length < header.pageSize;
    const due = cut ? [] : seeds.map((seed) => frameChecksum(seed, chunk, offset, header));
    const whole = frame.page !== 0 && due.some((sum) => isSameChecksum(sum, frame.checksum));
    const hasSalts = frame.salts === header.salts;
    // Frames of an earlier generation are whole too: each continues one of its own kind, or one
    // of ours that was cut short between the sectors of its header and kept the older checksum.
    const ofThisLog = hasSalts || (whole && previousIsGood);
    const good = hasSalts && whole;
    seeds = good ? [frame.checksum] : [frame.checksum, ...due.slice(0, 1)];
    previousIsGood = good;
    return { ...frame, number, at, content, cut, whole, ofThisLog, good };
  };
}
