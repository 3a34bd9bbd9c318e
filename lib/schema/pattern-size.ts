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
const COUNTED = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/;

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
  let at = 0;
  while (at < pattern.length) {
    const char = pattern[at];
    const counted = char === '{' ? COUNTED.exec(pattern.slice(at, at + 16)) : null;
    if (counted) {
      const times = Math.max(Number(counted[1]), Number(counted[2] || 0));
      size += atom * Math.max(times - 1, 0);
      atom *= Math.max(times, 1);
      at += counted[0].length;
    } else if (char === '(') {
      outer.push(size);
      size = 0;
      at += 1;
    } else if (char === ')') {
      atom = size + 2;
      size = (outer.pop() ?? 0) + atom;
      at += 1;
    } else {
      const [weight, length] = readAtom(pattern, at);
      atom = weight;
      size += weight;
      at += length;
    }
  }
  return outer.reduce((sum, one) => sum + one, size);
}

/** Weight and length of one atom: a letter, an escape, or a bracket class. */
function readAtom(pattern: string, at: number): [weight: number, length: number] {
  if (pattern[at] === '\\') {
    return [/[pP]/.test(pattern[at + 1] ?? '') ? PROPERTY_CLASS_SIZE : 1, 2];
  }
  if (pattern[at] !== '[') return [1, 1];
  let weight = 1;
  let end = at + 1;
  // A bracket right after `[` or `[^` is a letter of the class.
  if (pattern[end] === '^') end += 1;
  if (pattern[end] === ']') end += 1;
  while (end < pattern.length && pattern[end] !== ']') {
    if (pattern[end] === '\\') {
      if (/[pP]/.test(pattern[end + 1] ?? '')) weight += PROPERTY_CLASS_SIZE;
      end += 1;
    }
    end += 1;
  }
  return [weight, end + 1 - at];
}
