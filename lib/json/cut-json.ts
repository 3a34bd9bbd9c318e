import { isRecord } from './is-record.ts';

type Keep = 'start' | 'end';
type Json = Readonly<Record<string, unknown>>;

const ELLIPSIS = '…';
/** An entry of an object is not cut to less than this, its name included. */
const LEAST_SHARE = 64;

/** Whether the value's JSON text has at most `maxBytes` of UTF-8. Reads no more of the value than that (JS1). */
export const fitsJson = (value: unknown, maxBytes: number): boolean =>
  countJson(value, maxBytes) <= maxBytes;

/** Bytes of a text as it is, of anything else of its JSON text. */
export function wholeBytes(value: unknown): number {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return new TextEncoder().encode(text).length;
}

/**
 * The beginning of a JSON value in about `maxBytes`, in its own structure: of a
 * list its first items, of an object all keys that have room, each with a share
 * (JS2, JS3). A text inside that was cut ends with an ellipsis; `keep: 'end'`
 * keeps the ends of texts instead.
 */
export function cutJson(value: unknown, maxBytes: number, keep: Keep = 'start'): unknown {
  return typeof value === 'string'
    ? cutText(value, maxBytes, keep)
    : cutValue(value, maxBytes, keep);
}

/** As `cutJson`, of an object. */
export function cutRecord(
  record: Json,
  maxBytes: number,
  keep: Keep = 'start',
): Record<string, unknown> {
  const keys = Object.keys(record);
  const entries: [string, unknown][] = [];
  let room = maxBytes - 2;
  for (const [index, key] of keys.entries()) {
    if (room < LEAST_SHARE / 4) break;
    const keyBytes = countText(key, room) + 2;
    const share = Math.max(room / (keys.length - index), LEAST_SHARE);
    if (keyBytes >= Math.min(share, room)) continue;
    const value = cutValue(record[key], Math.min(share, room) - keyBytes, keep);
    const bytes = keyBytes + countJson(value, room);
    if (bytes > room) continue;
    entries.push([key, value]);
    room -= bytes;
  }
  return Object.fromEntries(entries);
}

/** At most `maxBytes` of a text as JSON, never a part of a character. */
export function cutText(text: string, maxBytes: number, keep: Keep = 'start'): string {
  if (countText(text, maxBytes) <= maxBytes) return text;
  const kept: string[] = [];
  let room = maxBytes - 2;
  // A character has at least one byte, so no more of the text can matter; nor can the last of these,
  // which may be half of a pair, as the quotes have two.
  const chars = Array.from(keep === 'start' ? text.slice(0, maxBytes) : text.slice(-maxBytes));
  if (keep === 'end') chars.reverse();
  for (const char of chars) {
    room -= bytesOf(char, 0).bytes;
    if (room < 0) break;
    kept.push(char);
  }
  return (keep === 'start' ? kept : kept.reverse()).join('');
}

function cutValue(value: unknown, room: number, keep: Keep): unknown {
  if (fitsJson(value, room)) return value;
  if (typeof value === 'string') {
    const inner = cutText(value, room - ELLIPSIS.length * 3, keep);
    return keep === 'start' ? inner + ELLIPSIS : ELLIPSIS + inner;
  }
  if (Array.isArray(value)) return cutList(value, room, keep);
  return isRecord(value) ? cutRecord(value, room, keep) : value;
}

/** Whole items, as many as there is room for; of the first one at least its beginning. */
function cutList(list: readonly unknown[], maxBytes: number, keep: Keep): unknown[] {
  const kept: unknown[] = [];
  let room = maxBytes - 2;
  for (const item of list) {
    const bytes = countJson(item, room) + 1;
    if (bytes <= room) kept.push(item);
    else if (kept.length > 0) break;
    else {
      const beginning = cutValue(item, room, keep);
      return fitsJson(beginning, room) ? [beginning] : [];
    }
    room -= bytes;
  }
  return kept;
}

/** Bytes of the JSON text; some number above `max` once it is more than that. */
function countJson(value: unknown, max: number): number {
  let bytes = 0;
  const open: unknown[] = [value]; // A stack of its own: how deep a value is was never ours to choose.
  while (open.length > 0 && bytes <= max) {
    const next = open.pop();
    if (typeof next === 'string') bytes += countText(next, max - bytes);
    else if (Array.isArray(next)) {
      bytes += 1 + Math.max(1, next.length);
      if (bytes <= max) for (const item of next) open.push(item);
    } else if (isRecord(next)) {
      bytes += 2;
      let separators = -1;
      for (const key in next) {
        if (bytes > max) break;
        if (!Object.hasOwn(next, key) || next[key] === undefined) continue;
        separators += 1;
        bytes += countText(key, max - bytes) + 1 + Math.min(separators, 1);
        open.push(next[key]);
      }
    } else bytes += JSON.stringify(next)?.length ?? 4;
  }
  return bytes;
}

/** Of a text as JSON, its quotes included; some number above `max` once it is more than that. */
function countText(text: string, max: number): number {
  let bytes = 2;
  for (let at = 0; at < text.length && bytes <= max; ) {
    const char = bytesOf(text, at);
    bytes += char.bytes;
    at += char.length;
  }
  return bytes;
}

const SHORT_ESCAPES = '\b\t\n\f\r"\\';

/** What `JSON.stringify` and UTF-8 make of the character at that place. */
function bytesOf(text: string, at: number): { bytes: number; length: number } {
  const code = text.codePointAt(at) ?? 0;
  if (code < 0x20 || code === 0x22 || code === 0x5c) {
    return { bytes: SHORT_ESCAPES.includes(String.fromCharCode(code)) ? 2 : 6, length: 1 };
  }
  if (code < 0x80) return { bytes: 1, length: 1 };
  if (code < 0x800) return { bytes: 2, length: 1 };
  if (code > 0xffff) return { bytes: 4, length: 2 };
  return { bytes: code >= 0xd800 && code <= 0xdfff ? 6 : 3, length: 1 };
}
