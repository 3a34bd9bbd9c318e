import { isRecord } from '../json/is-record.ts';
import { parseJson } from '../json/parse-json.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { TypeWord } from './schema-node.ts';

/** A number as JSON writes it; nothing that merely converts (`""`, `0x10`, `1e999`). */
const NUMBER_TEXT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;

const JSON_LIMITS = { maxDepth: LIMITS.jsonDepth, maxNodes: LIMITS.jsonNodes };

/** Whether a text is meant as a list or an object, be it whole or not. */
export const looksLikeJson = (text: string): boolean => /^\s*[[{]/.test(text);

/** The boolean or number that a text spells, of the types that are open; the text itself where it spells none. */
export function readScalarText(text: string, types: ReadonlySet<TypeWord>): unknown {
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (!types.has('integer') || text.length > 40 || !NUMBER_TEXT.test(text)) return text;
  const number = Number(text);
  // Beyond 2^53 the number would not be the one that was written; 1e999 is none at all.
  const faithful = Number.isInteger(number)
    ? Number.isSafeInteger(number)
    : Number.isFinite(number) && types.has('number');
  return faithful ? number : text;
}

/** The list or object that a text is, whole, as JSON; the text itself where it is none. */
export function readJsonText(text: string): unknown {
  if (!looksLikeJson(text)) return text;
  const parsed = parseJson(text, JSON_LIMITS);
  return parsed.ok && (Array.isArray(parsed.value) || isRecord(parsed.value)) ? parsed.value : text;
}
