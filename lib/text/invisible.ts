/**
 * Characters that do not show on a screen and that a model reads: tag characters, zero-width and
 * bidirectional controls, line and paragraph separators, fillers, variation selectors. Text hidden
 * in them could instruct a model without the person who watches seeing it.
 *
 * What stays: the joiners U+200C and U+200D, and the two selectors U+FE0E and U+FE0F, which emoji
 * and Persian are written with; the blanks U+2800 and U+3164, which stand for a letter.
 */
const RANGES: readonly (readonly [from: number, to: number])[] = [
  [0x034f, 0x034f], // combining grapheme joiner
  [0x061c, 0x061c], // Arabic letter mark
  [0x115f, 0x1160], // Hangul fillers of a syllable
  [0x17b4, 0x17b5], // Khmer inherent vowels
  [0x180b, 0x180f], // Mongolian selectors and vowel separator
  [0x200b, 0x200b], // zero width space
  [0x200e, 0x200f], // direction marks
  [0x2028, 0x202e], // separators, embeddings and overrides of direction
  [0x2060, 0x206f], // word joiner, invisible operators, isolates, deprecated controls
  [0xfe00, 0xfe0d], // variation selectors 1 to 14
  [0xfeff, 0xfeff], // byte order mark
  [0xe0000, 0xe007f], // tags
  [0xe0100, 0xe01ef], // variation selectors 17 to 256
];

const hex = (codePoint: number): string => `\\u{${codePoint.toString(16)}}`;
const INVISIBLE = new RegExp(
  `[${RANGES.map(([from, to]) => `${hex(from)}-${hex(to)}`).join('')}]`,
  'gu',
);

export const stripInvisible = (text: string): string => text.replace(INVISIBLE, '');

/** The same for every text of a JSON value, keys too; a value without any comes back as it is. */
export function stripInvisibleDeep(value: unknown): unknown {
  if (JSON.stringify(value)?.search(INVISIBLE) === -1) return value;
  return strip(value);
}

function strip(value: unknown): unknown {
  if (typeof value === 'string') return stripInvisible(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(strip);
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [stripInvisible(key), strip(one)]),
  );
}
