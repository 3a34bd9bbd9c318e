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
  const line = { text: '', max: maxChars };
  write(value, line);
  return cut(line.text, maxChars);
}

/** The same with hidden characters as marks, for where only a text can be shown. */
export const jsonPreview = (value: unknown, maxChars: number): string =>
  cut(showControlCharacters(jsonLine(value, maxChars)), maxChars);

const cut = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}${ELLIPSIS}`;

interface Line {
  text: string;
  readonly max: number;
}

const isFull = (line: Line): boolean => line.text.length > line.max;

function write(value: unknown, line: Line): void {
  if (isFull(line)) return;
  if (typeof value === 'string') line.text += JSON.stringify(value.slice(0, line.max + 1));
  else if (Array.isArray(value)) writeArray(value, line);
  else if (typeof value === 'object' && value !== null) writeObject(value, line);
  else line.text += JSON.stringify(value) ?? typeof value;
}

function writeArray(values: readonly unknown[], line: Line): void {
  line.text += '[';
  for (const [index, value] of values.entries()) {
    if (isFull(line)) return;
    if (index > 0) line.text += ', ';
    write(value, line);
  }
  line.text += ']';
}

function writeObject(value: object, line: Line): void {
  line.text += '{';
  let isFirst = true;
  for (const key in value) {
    if (isFull(line)) return;
    if (!Object.hasOwn(value, key)) continue;
    line.text += `${isFirst ? ' ' : ', '}${JSON.stringify(key)}: `;
    isFirst = false;
    write(Reflect.get(value, key), line);
  }
  line.text += isFirst ? '}' : ' }';
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
