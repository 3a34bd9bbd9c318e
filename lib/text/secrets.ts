import {
  BLANKS,
  HINT_TEXTS,
  HINTS,
  KEY_BEGIN,
  KEY_ENDS,
  LEAST_SECRET_CHARS,
  type NamedSecret,
  redactShapes,
  spellingsOf,
  valueRedactor,
} from './redact.ts';

export type Secrets = ReturnType<typeof createSecrets>;

/** These are secret whatever the call: values that are named, and texts with the form of a token. */
export function createSecrets(named: readonly NamedSecret[] = []) {
  const hideNamed = valueRedactor(named);
  const values = named.map(({ value }) => value).filter((one) => one.length >= LEAST_SECRET_CHARS);
  const spelled = values.flatMap(spellingsOf);
  const openings = [...spelled, KEY_BEGIN];
  return {
    /** The text without them, and well-formed: what may be stored. The same text where there is nothing to do. */
    hide: (text: string): string => {
      const whole = text.toWellFormed();
      return redactShapes(hideNamed ? hideNamed(whole) : whole);
    },
    /** How much of a text, in characters, no secret reaches into that goes on behind its end. */
    settled: (text: string): number =>
      uncut(
        text,
        Math.min(openFrom(text, openings), hintFrom(text), formFrom(text), wholeTo(text)),
        spelled,
      ),
  };
}

/** The other half of a last character may come with the next piece. */
const wholeTo = (text: string): number => text.length - (/[\ud800-\udbff]$/.test(text) ? 1 : 0);

/** Longer than the beginning by which a form is found, and shorter than any form. */
const MOST_BEFORE = 15;

/** A text that comes in pieces, without secrets: what may be the beginning of one is kept back. */
export function createRedactedStream({ hide, settled }: Secrets) {
  let held = '';
  // The text shown before counts, as a form begins where no word goes on.
  let before = '';
  let nextLook = 0;
  const release = (length: number): string => {
    const shown = hide(before + held.slice(0, length)).slice(before.length);
    held = held.slice(length);
    nextLook = held.length * 1.125;
    before = (before + shown).slice(-MOST_BEFORE);
    return shown;
  };
  return {
    /** Gives the text that may be shown once `delta` has come. */
    add(delta: string): string {
      held += delta.replaceAll('\0', '\ufffd');
      // A word that goes on settles little, and to look at a long one takes long.
      if (held.length < nextLook && !NO_TOKEN.test(delta)) return '';
      return release(Math.max(0, settled(before + held) - before.length));
    },
    /** The rest. */
    end: () => release(held.length),
  };
}

export type RedactedStream = ReturnType<typeof createRedactedStream>;

const LONGEST_HINT = Math.max(...HINT_TEXTS.map((hint) => hint.length));

/** The same for what a form begins with, which may stand behind any letter. */
function hintFrom(text: string): number {
  for (let length = Math.min(LONGEST_HINT, text.length); length > 0; length -= 1) {
    const end = text.slice(-length);
    // A single letter at the end of a word is of the word: a text would never be shown to its end.
    if (length === 1 && /[\w-]/.test(text.charAt(text.length - 2))) break;
    if (HINT_TEXTS.some((hint) => hint.startsWith(end))) return text.length - length;
  }
  return text.length;
}

/** Where the longest end of the text begins that is the beginning of one of these. */
function openFrom(text: string, values: readonly string[]): number {
  let most = 0;
  for (const value of values) {
    let length = Math.min(value.length - 1, text.length);
    while (length > most && !text.endsWith(value.slice(0, length))) length -= 1;
    most = Math.max(most, length);
  }
  return text.length - most;
}

/** The place, or that before it where none of these, and no key, lies across it: one may end as others begin. */
function uncut(text: string, place: number, values: readonly string[]): number {
  const key = text.lastIndexOf(KEY_BEGIN, place);
  const isAcross =
    key >= 0 && KEY_END.test(text.slice(key)) && !KEY_END.test(text.slice(key, place));
  let found = isAcross ? key : place;
  for (let at = -1; at !== found; ) {
    at = found;
    for (const value of values) {
      const begin = text.indexOf(value, Math.max(0, found - value.length + 1));
      if (begin >= 0 && begin < found) found = begin;
    }
  }
  return found;
}

/** A longer text is let go, and then not found any more. */
const LONGEST_FORM = 24_000;
const KEY_END = new RegExp(KEY_ENDS.source);
const NO_TOKEN = /[^\w.~+/=-]/;
const BEARER = new RegExp(`bearer${BLANKS}[\\w.~+/=-]*$`, 'i');

/** Where a token or a private key begins that may go on behind the end of the text. */
function formFrom(text: string): number {
  const least = Math.max(0, text.length - LONGEST_FORM);
  const key = text.lastIndexOf(KEY_BEGIN);
  if (key >= least && isOpenKey(text.slice(key))) return key;
  let word = text.length;
  while (word > least && !NO_TOKEN.test(text.charAt(word - 1))) word -= 1;
  const bearer = BEARER.exec(text.slice(Math.max(least, word - 20)));
  if (bearer) return text.length - bearer[0].length;
  const hint = HINTS.exec(text.slice(word));
  return hint ? word + hint.index : text.length;
}

const isOpenKey = (text: string): boolean =>
  /^-----BEGIN [A-Z0-9 ]{0,40}-{0,5}$/.test(text) ||
  (/^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.test(text) && !KEY_END.test(text));
