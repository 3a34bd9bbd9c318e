import { mapTexts } from '../text/map-texts.ts';
import { wellFormed } from '../text/well-formed.ts';
import { checkJsonText, type JsonTextLimits } from './check-json-text.ts';

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** `__proto__` as it can be written in JSON: also with escapes, which is why `\u` is looked at twice. */
const PROTO_TEXT = '__proto__';

/** What may be half a character or NUL; two halves that belong together are looked at in vain. */
const ODD_ESCAPE = /\\u(?:0000|d[89a-f])/i;

/**
 * The one way from untrusted text to a value. Refuses what is nested too
 * deep, has too many values, is not JSON, or has a key `__proto__`, which would
 * change the prototype of any object it is copied into. Its texts are as `clean` makes them:
 * well-formed and without NUL.
 */
export function parseJson(text: string, limits: JsonTextLimits, clean = wellFormed): ParsedJson {
  const read = readJson(text, limits);
  const isOdd = read.ok && (ODD_ESCAPE.test(text) || !text.isWellFormed());
  return isOdd ? { ok: true, value: mapTexts(read.value, clean) } : read;
}

/** The same with its texts as they are. */
export function readJson(text: string, limits: JsonTextLimits): ParsedJson {
  const check = checkJsonText(text, limits);
  // guard: depth-limited
  if (!check.ok) {
    const message =
      check.reason === 'depth'
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
