/** A class of Unicode properties has hundreds of ranges; it costs about as much as this many letters. */
const PROPERTY_CLASS_SIZE = 20;
/** So many characters of a bracket class are read in the time in which one letter is compiled. */
const READ_CHARS = 8;
/** Without regard to case, RE2 looks at each character of a range: so many in that time. */
const FOLDED_CHARS = 100;
/** No character beyond it has two cases. */
const LAST_FOLDED = 0x1e943;
const IGNORES_CASE = /\(\?[A-Za-z-]*i/;
const LETTERS = /\\(?:[xu]\{[^}]*\}|.)|./gsu;

/** A bracket right after `[` or `[^` is a letter of the class. */
export const BRACKET_CLASS = String.raw`\[\^?\]?(?:\\.|[^\]\\])*\]`;
const TOKEN = new RegExp(String.raw`\{(\d{1,6})(?:,(\d{0,6}))?\}|\\.|${BRACKET_CLASS}|.`, 'gs');

/** The parts of a pattern: a counted repetition with its numbers, an escape, a bracket class, or a letter. */
export const tokensOf = (pattern: string): RegExpExecArray[] => [...pattern.matchAll(TOKEN)];

/**
 * Upper estimate of the work to compile a pattern, in letters: counted
 * repetitions are unrolled (`(a{30}){30}` is 900 letters), so a short pattern can
 * cost seconds. A pattern that is not a regular expression gets some number too.
 */
export function patternSize(pattern: string): number {
  const folded = IGNORES_CASE.test(pattern) ? charsOfRanges(pattern) / FOLDED_CHARS : 0;
  return programSize(pattern) + Math.floor(pattern.length / READ_CHARS + folded);
}

/** How many characters its ranges have at most. What is no range, as in `a-b`, counts little. */
function charsOfRanges(pattern: string): number {
  const letters = pattern.match(LETTERS) ?? [];
  let chars = 0;
  for (const [at, letter] of letters.entries()) {
    if (letter !== '-') continue;
    const from = codeOf(letters[at - 1]) ?? 0;
    const to = codeOf(letters[at + 1]) ?? LAST_FOLDED;
    chars += Math.max(0, Math.min(to, LAST_FOLDED) - from);
  }
  return chars;
}

/** Undefined of an escape that gives the number of its character. */
function codeOf(letter = ''): number | undefined {
  if (/^\\[xu]/.test(letter)) return undefined;
  return letter.codePointAt(letter.startsWith('\\') ? 1 : 0) ?? 0;
}

function programSize(pattern: string): number {
  const outer: number[] = [];
  let size = 0;
  let atom = 0;
  for (const [token, least, most] of tokensOf(pattern)) {
    if (least !== undefined) {
      const times = Math.max(Number(least), Number(most || 0));
      size += atom * Math.max(times - 1, 0);
      atom *= Math.max(times, 1);
    } else if (token === '(') {
      outer.push(size);
      size = 0;
    } else if (token === ')') {
      atom = size + 2;
      size = (outer.pop() ?? 0) + atom;
    } else {
      atom = 1 + PROPERTY_CLASS_SIZE * (token.match(/\\[pP]/g)?.length ?? 0);
      size += atom;
    }
  }
  return outer.reduce((sum, one) => sum + one, size);
}
