/** What a column may hold; a blob stands for itself, as none of our tables has one. */
export type RecordValue = string | number | null | Buffer;

export interface Varint {
  readonly value: number;
  /** Where it ends. */
  readonly end: number;
}

const MAX_VARINT_BYTES = 9;

/** Undefined when the bytes end before it does, or when it is more than a number can tell. */
export function readVarint(bytes: Buffer, at: number): Varint | undefined {
  let value = 0;
  for (let offset = 0; offset < MAX_VARINT_BYTES; offset += 1) {
    const byte = bytes[at + offset];
    if (byte === undefined) return undefined;
    const isLast = offset === MAX_VARINT_BYTES - 1;
    value = isLast ? value * 256 + byte : value * 128 + (byte & 0x7f);
    if (!Number.isSafeInteger(value)) return undefined;
    if (isLast || byte < 0x80) return { value, end: at + offset + 1 };
  }
  return undefined;
}

/**
 * The values of a row as SQLite writes them (sqlite.org/fileformat2.html#record_format).
 * Undefined for bytes that are no record to their very end.
 */
export function readRecord(bytes: Buffer): RecordValue[] | undefined {
  const header = readVarint(bytes, 0);
  if (!header || header.value > bytes.length) return undefined;
  const values: RecordValue[] = [];
  let at = header.value;
  for (let place = header.end; place < header.value; ) {
    const type = readVarint(bytes, place);
    const size = type && sizeOf(type.value);
    if (type === undefined || size === undefined || at + size > bytes.length) return undefined;
    const value = readValue(type.value, bytes.subarray(at, at + size));
    if (value === undefined) return undefined;
    values.push(value);
    place = type.end;
    at += size;
  }
  return at === bytes.length ? values : undefined;
}

const FLOAT = 7;
const ZERO = 8;
const ONE = 9;
const FIRST_LONG = 12;
/** Of null and the integers, by their type. */
const SHORT_SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

const sizeOf = (type: number): number | undefined =>
  type >= FIRST_LONG ? Math.floor((type - FIRST_LONG) / 2) : SHORT_SIZES[type];

function readValue(type: number, bytes: Buffer): RecordValue | undefined {
  if (type >= FIRST_LONG) return type % 2 === 1 ? bytes.toString('utf8') : bytes;
  if (type === 0) return null;
  if (type === FLOAT) return bytes.readDoubleBE(0);
  if (type === ZERO || type === ONE) return type - ZERO;
  if (bytes.length <= 6) return bytes.readIntBE(0, bytes.length);
  const value = Number(bytes.readBigInt64BE(0));
  return Number.isSafeInteger(value) ? value : undefined;
}
