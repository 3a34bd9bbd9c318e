import { showControlCharacters } from '#lib/format/show-control-characters';
import { isRecord } from '#lib/json/is-record';
import { errorMessage } from '#lib/util/error-message';

const ELLIPSIS = '…';

/**
 * One line of JSON, at most `maxChars` long (FM8), with hidden characters as
 * they are. Stops reading as soon as the line is full, so that a preview of 8 MB
 * costs no more than one of 80 bytes.
 */
export function jsonLine(value: unknown, maxChars: number): string {
  let text = '';
  for (const part of partsOf(value, maxChars)) {
    text += part;
    if (text.length > maxChars) break;
  }
  return cut(text, maxChars);
}

/** The same with hidden characters as marks, for where only a text can be shown. */
export const jsonPreview = (value: unknown, maxChars: number): string =>
  cut(showControlCharacters(jsonLine(value, maxChars)), maxChars);

const cut = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}${ELLIPSIS}`;

/** The line in parts, each of which is read when it is asked for. */
function* partsOf(value: unknown, maxChars: number): Generator<string> {
  if (typeof value === 'string') {
    yield JSON.stringify(value.slice(0, maxChars + 1));
  } else if (Array.isArray(value)) {
    yield '[';
    for (const [index, one] of value.entries()) {
      if (index > 0) yield ', ';
      yield* partsOf(one, maxChars);
    }
    yield ']';
  } else if (typeof value === 'object' && value !== null) {
    yield* fieldsOf(value, maxChars);
  } else yield JSON.stringify(value) ?? typeof value;
}

function* fieldsOf(value: object, maxChars: number): Generator<string> {
  let before = '{ ';
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    yield `${before}${JSON.stringify(key)}: `;
    yield* partsOf(Reflect.get(value, key), maxChars);
    before = ', ';
  }
  yield before === '{ ' ? '{}' : ' }';
}

export type ParsedArguments =
  | { readonly ok: true; readonly args: Record<string, unknown> }
  | { readonly ok: false; readonly problem: 'not_json' | 'not_object'; readonly message: string };

/** Arguments that a person typed as JSON (FM12). An empty text means no arguments. */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === '') return { ok: true, args: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problem: 'not_json', message: errorMessage(error) };
  }
  return isRecord(value)
    ? { ok: true, args: value }
    : { ok: false, problem: 'not_object', message: 'not an object' };
}
