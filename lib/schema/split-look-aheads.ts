/** Patterns that a text must match, or must not. */
export interface PatternPart {
  readonly source: string;
  readonly isWanted: boolean;
}

const CLASS = String.raw`\[\^?\]?(?:\\.|[^\]\\])*\]`;
/** Something that is always one character long, however it matches. */
const ONE_CHARACTER = new RegExp(
  String.raw`^(?:\\[dDwWsS./+*?()[\]{}|$^\\-]|${CLASS}|[^\\[\](){}*+?|^$])(?:\{\d{1,3}\})?(?![*+?{])`,
);
const TOKEN = new RegExp(String.raw`^(?:\\.|${CLASS}|.)`, 's');

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
  let at = prefix.length;
  for (; /^\(\?[=!]/.test(source.slice(at)); ) {
    const end = endOfGroup(source, at);
    if (end === undefined) return whole;
    const body = source.slice(at + 3, end - 1);
    parts.push({ source: `${prefix}(?:${body})`, isWanted: source[at + 2] === '=' });
    at = end;
  }
  return [...parts, { source: prefix + source.slice(at), isWanted: true }];
}

/** The end of the group that begins at that place; of a pattern with fewer `)` than `(` there is none. */
function endOfGroup(source: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < source.length; ) {
    const [token = ''] = TOKEN.exec(source.slice(at)) ?? [];
    at += token.length;
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (depth === 0) return at;
  }
}

/** True of a choice between patterns. */
function hasChoice(source: string): boolean {
  for (let at = 0; at < source.length; ) {
    const isGroup = source[at] === '(';
    const end = isGroup ? (endOfGroup(source, at) ?? source.length) : at;
    if (source[end] === '|') return true;
    const [token = ''] = TOKEN.exec(source.slice(at)) ?? [];
    at = isGroup ? end : at + token.length;
  }
  return false;
}
