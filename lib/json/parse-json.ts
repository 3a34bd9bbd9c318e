import { mapTexts, wellFormed } from '#lib/text/map-texts';

interface JsonTextLimits {
  readonly maxDepth: number;
  readonly maxNodes: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Looks over JSON text before it is parsed, in one pass and without memory of
 * its own: `[` five thousand times parses, and then breaks whatever walks it.
 * Nodes are counted as commas and brackets, which is never less than the values
 * that are not a first child. Whether the text is JSON at all is for the parser.
 */
export function beyondLimits(
  text: string,
  { maxDepth, maxNodes }: JsonTextLimits,
): 'depth' | 'nodes' | undefined {
  let depth = 0;
  let nodes = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        nodes += 1;
        if (depth > maxDepth) return 'depth';
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      case COMMA:
        nodes += 1;
    }
    if (nodes > maxNodes) return 'nodes';
  }
}

/** Place of the quote that ends the string begun at `start`; the end of the text when there is none. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** `__proto__` as it can be written in JSON: also with escapes, which is why `\u` is looked at twice. */
const PROTO_TEXT = '__proto__';

/** Something that may be half a character or NUL; two halves that belong together are looked at in vain. */
const ODD_ESCAPE = /\\u(?:0000|d[89a-f])/i;

/**
 * The one way from untrusted text to a value. Refuses what is nested too
 * deep, has too many values, is not JSON, or has a key `__proto__`, which would
 * change the prototype of any object it is copied into. Its texts are as `clean` makes them:
 * well-formed and without NUL.
 */
export function parseJson(text: string, limits: JsonTextLimits, clean = wellFormed): ParsedJson {
  const read = parseJsonAsIs(text, limits);
  const hasEscapes = text.includes('\\u') && ODD_ESCAPE.test(text);
  const isOdd = read.ok && (hasEscapes || !text.isWellFormed());
  return isOdd ? { ok: true, value: mapTexts(read.value, clean) } : read;
}

/** The same with its texts as they are. */
export function parseJsonAsIs(text: string, limits: JsonTextLimits): ParsedJson {
  const beyond = beyondLimits(text, limits);
  // guard: depth-limited
  if (beyond) {
    const message =
      beyond === 'depth'
        ? `The JSON is nested too deep; at most ${limits.maxDepth} levels.`
        : `The JSON has too many values; at most ${limits.maxNodes}.`;
    return { ok: false, message };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return {
      ok: false,
      message: `Not JSON: ${error instanceof Error ? error.message : 'unreadable'}.`,
    };
  }
  // Only text that can spell the key pays for the walk.
  const suspicious = text.includes(PROTO_TEXT) || text.includes('\\u00');
  if (suspicious && hasProtoKey(value)) {
    return { ok: false, message: 'The key "__proto__" is not allowed in JSON.' };
  }
  return { ok: true, value };
}

/** Depth is bounded by the look at the text. */
function hasProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasProtoKey);
  return Object.hasOwn(value, PROTO_TEXT) || Object.values(value).some(hasProtoKey);
}

/** The value of a JSON text; undefined, which is no JSON, for any other text. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const TEXT_OR_NO_NUMBER = /"(?:[^"\\]+|\\.)*"?|-?\b(?:NaN|Infinity)\b/gs;
const CONTROLS = /\p{Cc}/gu;
const escaped = (controls: string): string => JSON.stringify(controls).slice(1, -1);

/** Also of what programs write that JSON does not have: NaN, and line breaks within texts. */
export function readLooseJson(text: string): unknown {
  const value = readJson(text);
  if (value !== undefined || !/^\s*[{[]/.test(text)) return value;
  return readJson(
    text.replace(TEXT_OR_NO_NUMBER, (one) =>
      one[0] === '"' ? one.replace(CONTROLS, escaped) : 'null',
    ),
  );
}
