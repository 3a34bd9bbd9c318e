import { HIDDEN_RANGES, hiddenClass } from '#lib/text/invisible';
export interface ShowOptions {
  /** Line breaks and tabs stay as they are. */
  readonly keepLayout?: boolean;
}

/** A stretch of a text: shown as it is, or a run of hidden characters as marks (FM7). */
export interface TextPart {
  readonly text: string;
  /** Code points of the characters that `text` shows; none for a stretch that shows itself. */
  readonly hidden: readonly number[];
}

const HIDDEN = hiddenClass(HIDDEN_RANGES);
const SELECTOR = '[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]';
const TAGGED = ['gbeng', 'gbsct', 'gbwls'].map((name) =>
  name.replace(/./g, (char) => `\\u{e00${char.charCodeAt(0).toString(16)}}`),
);

/**
 * Emoji whose hidden parts can be seen by their effect: a picture with its own selector or skin,
 * several joined into one, a keycap, the three flags that are written with tags. A selector that
 * another follows has no effect.
 */
const PICTURE = `\\p{Extended_Pictographic}(?:[\\ufe0e\\ufe0f](?!${SELECTOR}))?\\p{Emoji_Modifier}?`;
const EMOJI = [
  // First, since the picture alone would take their first character.
  `\\u{1f3f4}(?:${TAGGED.join('|')})\\u{e007f}`,
  `${PICTURE}(?:\\u200d${PICTURE})*`,
  '[0-9#*]\\ufe0f\\u20e3',
].join('|');

const HAS_HIDDEN = new RegExp(HIDDEN, 'u');
const ALL = new RegExp(`${EMOJI}|(?<hidden>${HIDDEN}+)`, 'gu');
const ALL_BUT_LAYOUT = new RegExp(`${EMOJI}|(?<hidden>(?:(?![\\n\\t])${HIDDEN})+)`, 'gu');

/**
 * A text in stretches, so that hidden characters can be drawn apart from a text that spells their
 * marks. Characters with a visible effect, as in emoji, are not marked.
 */
export function textParts(text: string, more: ShowOptions = {}): readonly TextPart[] {
  if (!HAS_HIDDEN.test(text)) return [{ text, hidden: [] }];
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(more.keepLayout ? ALL_BUT_LAYOUT : ALL)) {
    const run = match.groups?.hidden;
    if (run === undefined) continue;
    if (match.index > from) parts.push({ text: text.slice(from, match.index), hidden: [] });
    const hidden = Array.from(run, (char) => char.codePointAt(0) ?? 0);
    parts.push({ text: hidden.map(mark).join(''), hidden });
    from = match.index + run.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), hidden: [] });
  return parts;
}

/**
 * Makes characters visible that would hide or reorder what follows, so that a
 * tool cannot show people something other than what it returned.
 */
export const showControlCharacters = (text: string, more: ShowOptions = {}): string =>
  textParts(text, more)
    .map((part) => part.text)
    .join('');

/** How many characters of a text are shown as marks. Line breaks and tabs do not count. */
export const countHidden = (text: string): number =>
  textParts(text, { keepLayout: true }).reduce((sum, { hidden }) => sum + hidden.length, 0);

/**
 * A value as JSON in which hidden characters are written as escapes (`\u200b`): what can be edited
 * as plain text can then be seen, and reads back as the same value.
 */
export const visibleJsonText = (value: unknown, indent = 2): string =>
  textParts(JSON.stringify(value, null, indent) ?? '', { keepLayout: true })
    .map(({ text, hidden }) => (hidden.length === 0 ? text : hidden.map(toEscape).join('')))
    .join('');

export const codePointName = (code: number): string =>
  `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;

const SYMBOLS_FROM = 0x2400;
const DELETE_SYMBOL = '␡';

function mark(code: number): string {
  if (code < 0x20) return String.fromCharCode(SYMBOLS_FROM + code);
  return code === 0x7f ? DELETE_SYMBOL : `⟨${codePointName(code)}⟩`;
}

/** JSON escapes it in units of UTF-16. */
const toEscape = (code: number): string =>
  Array.from(
    { length: code > 0xffff ? 2 : 1 },
    (_, at) => `\\u${String.fromCodePoint(code).charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

const ESC = '\\u001b';
const BEL = '\\u0007';

/** CSI (colour, cursor), OSC (titles, links; ended by BEL or ESC \), and two-character escapes. */
const ANSI = new RegExp(
  `${ESC}\\[[0-?]*[ -/]*[@-~]|${ESC}\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)|${ESC}[ -/]*[0-Z\\\\^-~]`,
  'g',
);

/** Takes a terminal's colours and cursor moves out of a text (FM9). */
export const stripAnsi = (text: string): string => text.replace(ANSI, '');
