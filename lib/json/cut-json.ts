import { isRecord } from './is-record.ts';
import { jsonText } from './json-text.ts';
import { bytesOfChar, countJson, countText, fitsJson } from './measure-json.ts';

type Keep = 'start' | 'end';
type Json = Readonly<Record<string, unknown>>;

const ELLIPSIS = '…';
/** An entry of an object is not cut to less than this, its name included. */
const LEAST_SHARE = 64;

/** Bytes of a text as it is, of anything else of its JSON text. */
export function wholeBytes(value: unknown): number {
  const text = typeof value === 'string' ? value : (jsonText(value) ?? '');
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

/** Does the same to an object. */
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
  const isStart = keep === 'start';
  let at = isStart ? 0 : text.length;
  for (let room = maxBytes - 2; ; ) {
    const { bytes, length } = isStart ? bytesOfChar(text, at) : bytesOfCharBefore(text, at);
    room -= bytes;
    if (room < 0) return isStart ? text.slice(0, at) : text.slice(at);
    at += isStart ? length : -length;
  }
}

/** A pair is one character from either side. */
function bytesOfCharBefore(text: string, at: number) {
  const isPair = (text.codePointAt(at - 2) ?? 0) > 0xffff;
  return bytesOfChar(text, at - (isPair ? 2 : 1));
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
