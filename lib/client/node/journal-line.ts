import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { type JournalRecord, parseJournalRecord } from './parse-journal-record.ts';

/** What a journal's file holds, damaged or not. */
export interface JournalText {
  readonly records: readonly JournalRecord[];
  /** Offsets of what cannot be read, and is no write that was cut short. */
  readonly damaged: readonly number[];
  /** Bytes of a last write that was cut short; its `put` never resolved. */
  readonly tornBytes: number;
}

const NEWLINE = 0x0a;
/** Checksum and length in front of the JSON, and what a cut leaves of them. */
const HEAD = /^([0-9a-f]{8}) (\d{1,10}) /;
const HEAD_CUT_SHORT = /^[0-9a-f]{0,8}$|^[0-9a-f]{8} \d{0,10}$/;
const HEAD_BYTES = 20;

/** `crc32 length json`, and a line break, which JSON never contains. */
export function toJournalLine(record: JournalRecord): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`${checksum(json)} ${Buffer.byteLength(json)} ${json}\n`);
}

/** Reads all that can be read, and distinguishes a write that was cut short from damage (CL22, CL23). */
export function readJournalText(bytes: Buffer): JournalText {
  const records: JournalRecord[] = [];
  const damaged: number[] = [];
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end < 0) break;
    const record = parseLine(bytes.subarray(start, end));
    if (record) records.push(record);
    else damaged.push(start);
    start = end + 1;
  }
  const tail = bytes.subarray(start);
  if (tail.length > 0 && !isCutShort(tail))
    return { records, damaged: [...damaged, start], tornBytes: 0 };
  return { records, damaged, tornBytes: tail.length };
}

function parseLine(line: Buffer): JournalRecord | undefined {
  const head = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES));
  if (!head) return undefined;
  const [{ length }, sum, bytes] = head;
  const json = line.subarray(length);
  if (json.length !== Number(bytes) || checksum(json) !== sum) return undefined;
  try {
    return parseJournalRecord(JSON.parse(json.toString('utf8')));
  } catch {
    return undefined; // Whole, but not JSON: like what another version wrote, it counts as damaged.
  }
}

/**
 * A write that was cut short is the beginning of a line, or room that the
 * system had set aside and not filled. A whole line without its line break was
 * on disk once and has changed since: that is damage.
 */
function isCutShort(tail: Buffer): boolean {
  if (tail.every((byte) => byte === 0)) return true;
  const start = tail.toString('latin1', 0, HEAD_BYTES);
  const head = HEAD.exec(start);
  if (!head) return tail.length < HEAD_BYTES && HEAD_CUT_SHORT.test(start);
  return (
    tail.length <= head[0].length + Number(head[2]) && !tail.subarray(head[0].length).includes(0)
  );
}

const checksum = (text: string | Buffer): string => crc32(text).toString(16).padStart(8, '0');
