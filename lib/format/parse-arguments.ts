import { isRecord } from '../json/is-record.ts';
import { errorMessage } from '../util/error-message.ts';

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
