/** Characters that one column of the index takes from a value; what lies beyond is not found. */
const MAX_CHARS = 64 * 1024;

/** Scripts written without spaces: each sign is a word of its own, so that any part is found. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

const spaced = (text: string): string => text.replace(UNSPACED, ' $& ');

/** The words of a JSON value: its keys, strings and numbers, in reading order. */
export function searchWords(value: unknown): string {
  const words: string[] = [];
  let left = MAX_CHARS;
  const waiting: unknown[] = [value]; // A stack of its own: the depth of a value is not ours.
  while (waiting.length > 0 && left > 0) {
    const next = waiting.pop();
    if (typeof next === 'string' || typeof next === 'number') {
      const word = String(next).slice(0, left);
      words.push(spaced(word));
      left -= word.length + 1;
    } else if (Array.isArray(next)) {
      for (const item of next.toReversed()) waiting.push(item);
    } else if (typeof next === 'object' && next !== null) {
      for (const [key, item] of Object.entries(next).reverse()) waiting.push(item, key);
    }
  }
  return words.join(' ');
}

/**
 * An FTS5 query that asks for every word of a text, each as a beginning; null
 * when there are none. Nothing in the text is taken for query syntax.
 */
export function searchQuery(text: string): string | null {
  const words = text
    .replace(/\p{Cc}/gu, ' ') // SQLite reads a query only up to a NUL.
    .split(/\s+/u)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length === 0) return null;
  return words.map((word) => `"${spaced(word).trim().replaceAll('"', '""')}" *`).join(' ');
}
