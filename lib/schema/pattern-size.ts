/** A class of Unicode properties has hundreds of ranges; it costs about as much as this many letters. */
const PROPERTY_CLASS_SIZE = 20;
const COUNTED = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/;

/**
 * Upper estimate of a pattern's program, before it is compiled: counted
 * repetitions are unrolled (`(a{30}){30}` is 900 letters), so a short pattern can
 * cost seconds to compile. A pattern that is not a regular expression gets some number too.
 */
export function patternSize(pattern: string): number {
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
