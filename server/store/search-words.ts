import { BadSearchError } from './store-errors.ts';

/** Characters that one column of the index takes from a value; what lies beyond is not found. */
const MAX_CHARS = 64 * 1024;

/** Scripts written without spaces: each sign is a word of its own, so that any part is found. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** Signs that the index takes for gaps between words; each gets a word in its place. */
const PICTURES = /[\p{Extended_Pictographic}\p{Regional_Indicator}]/gu;
/** How a sign before them is drawn. */
const STYLES = /[\ufe0e\ufe0f]/g;

/** ASCII has none of them. */
const IS_PLAIN = /^[\0-\x7f]*$/;

/** The index takes one form of each sign, as full and half width, and words between gaps. */
const spaced = (text: string): string =>
  IS_PLAIN.test(text)
    ? text
    : text
        .replace(STYLES, '')
        .normalize('NFKC')
        .replace(PICTURES, (sign) => ` u${sign.codePointAt(0)?.toString(16)} `)
        .replace(UNSPACED, ' $& ');

/** The words of a JSON value: its keys, strings and numbers, in reading order. */
export function searchWords(value: unknown): string {
  const words: string[] = [];
  let left = MAX_CHARS;
  const waiting: unknown[] = [value]; // A stack of its own: the depth of a value is not ours.
  while (waiting.length > 0 && left > 0) {
    const next = waiting.pop();
    if (typeof next === 'string' || typeof next === 'number') {
      const word = String(next).slice(0, left);
      words.push(spaced(word).slice(0, MAX_CHARS));
      left -= word.length + 1;
    } else for (const part of partsOf(next)) waiting.push(part);
  }
  return words.join(' ');
}

/** The values in a value, the last one first. */
function partsOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.toReversed();
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flat().toReversed();
}

/** Each word is looked up by itself, and costs as much as there are calls that have it. */
const MAX_WORDS = 8;
/** All words count: the index takes `a.b` for two, and each sign of an unspaced script for one. */
const MAX_PARTS = 64;
const PARTS = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * The words of a text that a search asks for, each as a beginning; null when the text is blank.
 * A text of marks alone has none, and is found nowhere: marks are not indexed. Throws
 * `BadSearchError` for more words than one search may have.
 */
export function wordsToFind(text: string): readonly string[] | null {
  const parted = text.replace(/\p{Cc}/gu, ' ').trim(); // SQLite reads a query only up to a NUL.
  if (parted === '') return null;
  const words = parted
    .split(/\s+/u)
    .map((word) => spaced(word).trim())
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length > MAX_WORDS) {
    throw new BadSearchError(
      `a search takes at most ${MAX_WORDS} words, and this has ${words.length}`,
    );
  }
  const parts = words.reduce((sum, word) => sum + (word.match(PARTS)?.length ?? 0), 0);
  if (parts > MAX_PARTS) {
    throw new BadSearchError(
      `a search takes at most ${MAX_PARTS} parts of words (between marks, or signs of a script without spaces), and this has ${parts}`,
    );
  }
  return words;
}
