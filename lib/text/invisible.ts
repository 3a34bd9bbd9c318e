import { mapTexts } from '#lib/text/map-texts';

/** A range of characters that draw nothing, or that change how their neighbours are drawn. */
export interface HiddenRange {
  readonly from: number;
  readonly to: number;
  /**
   * True where a text loses them before a model reads it. The others have a use in a text: a line
   * break, a joiner of emoji and Persian letters, a blank in place of a letter.
   */
  readonly strip: boolean;
}

const range = (from: number, to: number, strip: boolean): HiddenRange => ({ from, to, strip });

/**
 * The one table of hidden characters: `stripInvisible` takes a part of them out, people are shown
 * all of them as marks. It holds every Default_Ignorable_Code_Point of Unicode, the controls, the
 * separators, format characters, and blanks that pass for a letter.
 */
export const HIDDEN_RANGES: readonly HiddenRange[] = [
  range(0x0000, 0x0000, true), // NUL, which many servers refuse
  range(0x0001, 0x001f, false), // C0 controls; line breaks and tabs among them
  range(0x007f, 0x009f, false), // delete, C1 controls
  range(0x00ad, 0x00ad, false), // soft hyphen
  range(0x034f, 0x034f, true), // combining grapheme joiner
  range(0x061c, 0x061c, true), // Arabic letter mark
  range(0x115f, 0x1160, true), // Hangul fillers of a syllable
  range(0x17b4, 0x17b5, true), // Khmer inherent vowels
  range(0x180b, 0x180f, true), // Mongolian selectors and vowel separator
  range(0x200b, 0x200b, true), // zero width space
  range(0x200c, 0x200d, false), // joiners
  range(0x200e, 0x200f, true), // direction marks
  range(0x2028, 0x202e, true), // separators, embeddings and overrides of direction
  range(0x2060, 0x206f, true), // word joiner, invisible operators, isolates, deprecated controls
  range(0x2800, 0x2800, false), // braille blank
  range(0x3164, 0x3164, false), // Hangul filler
  range(0xd800, 0xdfff, true), // halves of a character, alone, which many servers refuse
  range(0xfe00, 0xfe0d, true), // variation selectors 1 to 14
  range(0xfe0e, 0xfe0f, false), // variation selectors of emoji
  range(0xfeff, 0xfeff, true), // byte order mark
  range(0xffa0, 0xffa0, false), // half-width Hangul filler
  range(0xfff0, 0xfffb, true), // unassigned, interlinear annotations
  range(0x13430, 0x1343f, false), // Egyptian hieroglyph format controls
  range(0x16fe4, 0x16fe4, false), // Khitan filler
  range(0x1bca0, 0x1bca3, true), // shorthand format controls
  range(0x1d159, 0x1d159, false), // note without a head
  range(0x1d173, 0x1d17a, true), // controls of musical notation
  range(0xe0000, 0xe0fff, true), // tags, variation selectors 17 to 256, unassigned
];

const hex = (codePoint: number): string => `\\u{${codePoint.toString(16)}}`;

/** The inside of a regular expression's class, for the flag `u`. */
export const hiddenClass = (ranges: readonly HiddenRange[]): string =>
  `[${ranges.map(({ from, to }) => `${hex(from)}-${hex(to)}`).join('')}]`;

/**
 * Characters that do not show on a screen and that a model reads. Text hidden in them could
 * instruct a model without the person who watches seeing it.
 *
 * What stays: the joiners U+200C and U+200D, and the two selectors U+FE0E and U+FE0F, which emoji
 * and Persian are written with, but for long rows of them; the blanks U+2800 and U+3164, which take the place of a letter.
 */
const INVISIBLE = new RegExp(hiddenClass(HIDDEN_RANGES.filter(({ strip }) => strip)), 'gu');

/** No writing has three of those that stay in a row; data that is hidden in them has. */
const CARRIER = /(?:\u00ad|\u200c|\u200d|\ufe0e|\ufe0f){3,}/g;

/** Without the characters that people do not see. */
export const stripInvisible = (text: string): string =>
  text.replace(INVISIBLE, '').replace(CARRIER, '');

/** The same for every text of a JSON value, keys too; a value without any comes back as it is. */
export const stripInvisibleDeep = (value: unknown): unknown => mapTexts(value, stripInvisible);
