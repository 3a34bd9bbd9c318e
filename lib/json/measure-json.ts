import { isRecord } from './is-record.ts';
import { rememberedText } from './json-text.ts';

export interface JsonLimits {
  /** UTF-8 bytes of the compact JSON text. */
  readonly maxBytes?: number;
  readonly maxDepth?: number;
  readonly maxNodes?: number;
}

export type JsonFault = 'bytes' | 'depth' | 'nodes' | 'proto' | 'not_json';

/** It says what of a value is looked at. */
interface Measure {
  /** A key `__proto__`, and a value that JSON text cannot have, is a fault. */
  readonly isStrict: boolean;
  /** Bytes of a text; some number above `max` once it has more. */
  textBytes(text: string, max: number): number;
  /** Bytes of any other value that is neither a list nor an object. */
  scalarBytes(value: unknown): number;
}

const EXACT: Measure = { isStrict: false, textBytes: countText, scalarBytes: countScalar };
const STRICT: Measure = { ...EXACT, isStrict: true };
const SHAPE: Measure = { ...EXACT, textBytes: () => 0 };

/**
 * Walks a value as far as the limits allow and names the first one it breaks, or
 * what no JSON value of ours has: a key `__proto__` (code that copies by assignment
 * would change a prototype), `undefined`, a function, `NaN`. Safe for cyclic values
 * when the depth has a limit.
 */
export const measureJson = (value: unknown, limits: JsonLimits): JsonFault | undefined =>
  walk(value, STRICT, limits).fault;

/** Bytes of the JSON text; some number above `max` once it is more than that. Reads no more of the value (JS1). */
export const countJson = (value: unknown, max: number): number =>
  walk(value, EXACT, { maxBytes: max }).bytes;

/** True where the value's JSON text has at most `maxBytes` of UTF-8. Reads no more of the value than that (JS1). */
export function fitsJson(value: unknown, maxBytes: number): boolean {
  const chars = rememberedText(value)?.length;
  // A character has one to three bytes. To begin with the fields of an object costs by their number.
  if (chars !== undefined && chars > maxBytes) return false;
  if (chars !== undefined && chars * 3 <= maxBytes) return true;
  return countJson(value, maxBytes) <= maxBytes;
}

/** True where a value is within the limits. Reads no more of it. */
export const isSmallJson = (value: unknown, limits: JsonLimits): boolean =>
  walk(value, EXACT, limits).fault === undefined;

export const isDeeperThan = (value: unknown, maxDepth: number): boolean =>
  walk(value, SHAPE, { maxDepth }).fault === 'depth';

/** Quotes, a colon and a comma, or an object's own memory, add this to each value. */
const PER_VALUE = 8;

/**
 * About how many bytes a JSON value takes as text, without a look at each character.
 * It may be too low by a factor of three, for text whose characters take several bytes.
 * Reads no more of the value than `most`: some number above it then means "more".
 */
export const estimateJsonBytes = (value: unknown, most = Number.POSITIVE_INFINITY): number =>
  walk(value, ESTIMATE, { maxBytes: most }).bytes;

const ESTIMATE: Measure = {
  isStrict: false,
  textBytes: (text) => PER_VALUE + text.length,
  scalarBytes: () => PER_VALUE,
};

type Container = readonly unknown[] | Readonly<Record<string, unknown>>;

/** A list or an object that is left to visit, and what is left after it: the depth of a value is the sender's choice. */
interface Waiting {
  readonly container: Container;
  readonly depth: number;
  readonly next: Waiting | undefined;
}

/** Most values are small and many are measured for a call: it is all that a visit takes of memory. */
interface Visit extends Required<JsonLimits> {
  waiting: Waiting | undefined;
  bytes: number;
  nodes: number;
  fault: JsonFault | undefined;
}

/** An integer as the engine keeps small ones: what is counted from it needs no memory of its own. */
const NO_LIMIT = 2 ** 30 - 1;

function walk(
  root: unknown,
  measure: Measure,
  { maxBytes = NO_LIMIT, maxDepth = NO_LIMIT, maxNodes = NO_LIMIT }: JsonLimits,
): Pick<Visit, 'bytes' | 'fault'> {
  const visit: Visit = {
    waiting: undefined,
    bytes: 0,
    nodes: 0,
    fault: undefined,
    maxBytes: Math.min(maxBytes, NO_LIMIT),
    maxDepth,
    maxNodes,
  };
  visit.fault = take(visit, measure, root, 0);
  for (let next = visit.waiting; next && !visit.fault; next = visit.waiting) {
    const { container, depth } = next;
    visit.waiting = next.next;
    visit.fault = isList(container)
      ? visitItems(visit, measure, container, depth)
      : visitFields(visit, measure, container, depth);
    if (visit.bytes > visit.maxBytes) visit.fault ??= 'bytes';
  }
  return visit;
}

/** Lists and objects alone wait: a list may have a million numbers. */
function take(
  visit: Visit,
  measure: Measure,
  value: unknown,
  depth: number,
): JsonFault | undefined {
  visit.nodes += 1;
  if (visit.nodes > visit.maxNodes) return 'nodes';
  if (typeof value === 'string') {
    visit.bytes += measure.textBytes(value, visit.maxBytes - visit.bytes);
  } else if (Array.isArray(value) || isRecord(value)) {
    if (depth >= visit.maxDepth) return 'depth';
    visit.waiting = { container: value, depth: depth + 1, next: visit.waiting };
  } else if (measure.isStrict && !isScalar(value)) return 'not_json';
  else visit.bytes += measure.scalarBytes(value);
  return visit.bytes > visit.maxBytes ? 'bytes' : undefined;
}

function visitItems(visit: Visit, measure: Measure, list: readonly unknown[], depth: number) {
  visit.bytes += 1 + Math.max(1, list.length);
  // Before a look at the items: a list may have a million.
  if (visit.nodes + list.length > visit.maxNodes) return 'nodes';
  if (visit.bytes > visit.maxBytes) return 'bytes';
  for (const item of list) {
    const fault = take(visit, measure, item, depth);
    if (fault) return fault;
  }
}

function visitFields(
  visit: Visit,
  measure: Measure,
  record: Readonly<Record<string, unknown>>,
  depth: number,
) {
  visit.bytes += 2;
  let separators = 1;
  for (const key in record) {
    if (!Object.hasOwn(record, key)) continue;
    if (measure.isStrict && key === '__proto__') return 'proto';
    const field = record[key];
    if (field === undefined && !measure.isStrict) continue;
    visit.bytes += measure.textBytes(key, visit.maxBytes - visit.bytes) + separators;
    separators = 2;
    const fault = take(visit, measure, field, depth);
    if (fault) return fault;
  }
}

const isList = (value: Container): value is readonly unknown[] => Array.isArray(value);

const isScalar = (value: unknown): boolean =>
  value === null || typeof value === 'boolean' || Number.isFinite(value);

/** Counts a value that is neither a text, a list nor an object. A number is counted without a text of it. */
function countScalar(value: unknown): number {
  if (Number.isSafeInteger(value)) return countDigits(value as number);
  if (Number.isFinite(value)) return String(value).length;
  return value === false ? 5 : 4;
}

function countDigits(integer: number): number {
  const rest = Math.abs(integer);
  let bytes = integer < 0 ? 2 : 1;
  for (let least = 10; least <= rest; least *= 10) bytes += 1;
  return bytes;
}

const SHORT_ESCAPES = '\b\t\n\f\r"\\';

/** Counts a text as JSON, its quotes included; some number above `max` once it is more than that. */
export function countText(text: string, max: number): number {
  let bytes = 2;
  // A character has at least one byte.
  if (text.length + bytes > max) return text.length + bytes;
  for (let at = 0; at < text.length && bytes <= max; ) {
    const code = text.charCodeAt(at);
    // Most characters by far, and four times as fast.
    if (code >= 0x20 && code < 0x80 && code !== 0x22 && code !== 0x5c) {
      bytes += 1;
      at += 1;
      continue;
    }
    const char = bytesOfChar(text, at);
    bytes += char.bytes;
    at += char.length;
  }
  return bytes;
}

const PLAIN_CHAR = { bytes: 1, length: 1 } as const;

/** Counts what `JSON.stringify` and UTF-8 make of the character at that place. */
export function bytesOfChar(text: string, at: number): { bytes: number; length: number } {
  const code = text.codePointAt(at) ?? 0;
  if (code < 0x20 || code === 0x22 || code === 0x5c) {
    return { bytes: SHORT_ESCAPES.includes(String.fromCharCode(code)) ? 2 : 6, length: 1 };
  }
  if (code < 0x80) return PLAIN_CHAR;
  if (code < 0x800) return { bytes: 2, length: 1 };
  if (code > 0xffff) return { bytes: 4, length: 2 };
  return { bytes: code >= 0xd800 && code <= 0xdfff ? 6 : 3, length: 1 };
}
