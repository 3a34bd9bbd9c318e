import { canonicalJson } from '../json/canonical-json.ts';
import { isRecord } from '../json/is-record.ts';
import { shorten } from './describe-value.ts';
import { type AllowedValues, TYPE_WORDS, type TypeWord } from './schema-node.ts';

/** What a keyword's value was not; the reader adds where. */
export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly want: string };

const good = <T>(value: T): Read<T> => ({ ok: true, value });
const bad = (want: string): Read<never> => ({ ok: false, want });

const isTypeWord = (word: unknown): word is TypeWord => TYPE_WORDS.some((one) => one === word);

/** `type`: one word or a list of them. */
export function readTypes(value: unknown): Read<readonly TypeWord[]> {
  const words: readonly unknown[] = Array.isArray(value) ? value : [value];
  const known = words.filter(isTypeWord);
  if (known.length === 0 || known.length !== words.length) {
    return bad(`one of ${TYPE_WORDS.join(', ')}, or a list of them`);
  }
  return good(known);
}

export function readNumber(value: unknown): Read<number> {
  return typeof value === 'number' && Number.isFinite(value) ? good(value) : bad('a number');
}

export function readCount(value: unknown): Read<number> {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? good(value)
    : bad('a whole number that is not negative');
}

export function readPositive(value: unknown): Read<number> {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
    ? good(value)
    : bad('a number above 0');
}

export function readFlag(value: unknown): Read<boolean> {
  return typeof value === 'boolean' ? good(value) : bad('true or false');
}

export function readText(value: unknown): Read<string> {
  return typeof value === 'string' ? good(value) : bad('a text');
}

export const readList = (value: unknown): Read<readonly unknown[]> =>
  Array.isArray(value) ? good(value) : bad('a list');

export const readRecord = (value: unknown): Read<Record<string, unknown>> =>
  isRecord(value) ? good(value) : bad('an object');

export function readNames(value: unknown): Read<readonly string[]> {
  if (!Array.isArray(value)) return bad('a list of names');
  const list: readonly unknown[] = value;
  const names = list.filter((one) => typeof one === 'string');
  return names.length === list.length ? good(names) : bad('a list of names');
}

/** `dependentRequired`: names, by the name that makes them required. */
export function readNamesOf(value: unknown): Read<ReadonlyMap<string, readonly string[]>> {
  if (!isRecord(value)) return bad('an object of lists of names');
  const names = new Map<string, readonly string[]>();
  for (const [name, list] of Object.entries(value)) {
    const read = readNames(list);
    if (!read.ok) return bad('an object of lists of names');
    names.set(name, read.value);
  }
  return good(names);
}

/** `enum` */
export function readEnum(value: unknown): Read<AllowedValues> {
  if (!Array.isArray(value)) return bad('a list of values');
  const list: readonly unknown[] = value;
  const keys = list.map(canonicalJson);
  const shown = keys.slice(0, 20).map(shorten).join(', ');
  return good({ keys: new Set(keys), text: keys.length > 20 ? `${shown}, …` : shown });
}

/** `const` */
export function readConst(value: unknown): Read<AllowedValues> {
  const key = canonicalJson(value);
  return good({ keys: new Set([key]), text: shorten(key) });
}
