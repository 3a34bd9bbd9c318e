import { BRACKET_CLASS, tokensOf } from './pattern-size.ts';

/** Patterns that a text must match, or must not. */
export interface PatternPart {
  readonly source: string;
  readonly isWanted: boolean;
}

/** Something that is always one character long, however it matches. */
const ONE_CHARACTER = new RegExp(
  String.raw`^(?:\\[dDwWsS./+*?()[\]{}|$^\\-]|${BRACKET_CLASS}|[^\\[\](){}*+?|^$])(?:\{\d{1,3}\})?(?![*+?{])`,
);

/**
 * Takes a pattern apart at the look-aheads with which it begins, such as `^(?=.*\d)(?!admin).{8,}$`
 * (`^.*\d`, not `^admin`, `^.{8,}$`): RE2 has none, and can run each of the parts. Only characters
 * of a fixed number may stand before them, so that all of them look from one place. Any other
 * pattern is one part.
 */
export function splitLookAheads(source: string): readonly PatternPart[] {
  const whole = [{ source, isWanted: true }];
  if (!source.startsWith('^') || !/\(\?[=!]/.test(source) || hasChoice(source)) return whole;
  let prefix = '^';
  for (let next = ONE_CHARACTER.exec(source.slice(1)); next; ) {
    prefix += next[0];
    next = ONE_CHARACTER.exec(source.slice(prefix.length));
  }
  const parts: PatternPart[] = [];
  let rest = source.slice(prefix.length);
  while (/^\(\?[=!]/.test(rest)) {
    const end = endOfGroup(rest);
    if (end === undefined) return whole;
    parts.push({ source: `${prefix}(?:${rest.slice(3, end)})`, isWanted: rest[2] === '=' });
    rest = rest.slice(end + 1);
  }
  return [...parts, { source: prefix + rest, isWanted: true }];
}

/** The place of the bracket that ends the group with which the pattern begins; of one that is left open there is none. */
function endOfGroup(pattern: string): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of tokensOf(pattern)) {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (depth === 0) return index;
  }
}

/** True of a choice between patterns. */
function hasChoice(source: string): boolean {
  let depth = 0;
  return tokensOf(source).some(([token]) => {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    return token === '|' && depth === 0;
  });
}
