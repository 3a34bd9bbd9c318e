import { isRecord } from '#lib/json/is-record';
import { NAMELESS } from '../mend-calls.ts';
import {
  type AnswerReader,
  argumentText,
  countOf,
  errorOf,
  type Fields,
  nameOf,
  textOf,
  UnreadableAnswerError,
  usageOf,
} from './fields.ts';

const ENDS = ['response.completed', 'response.incomplete', 'response.failed'];
const ADDED = 'response.output_item.added';
const TEXTS = ['response.output_text.delta', 'response.refusal.delta'];
const PIECES = [
  ...[...TEXTS, 'response.function_call_arguments.delta', 'response.reasoning_summary_text.delta'],
  ...['response.reasoning_summary_part.added', 'response.reasoning_summary_part.done'],
];
const ITEMS = ['message', 'reasoning', 'function_call'];

/** Reads events of the Responses API, and a whole response as these. */
export class ResponsesReader implements AnswerReader {
  readonly #messages = new Set<string>();
  #hasOutput = false;
  #isOdd = false;
  #isFinished = false;
  hasCalls = false;

  take(event: Fields): object[] {
    if (Array.isArray(event.output)) return this.#takeWhole(event, event.output);
    const type = textOf(event.type) ?? '';
    if (ENDS.includes(type)) return [this.#finish(type, event.response)];
    const error = errorOf(event);
    if (error) {
      this.#isFinished = true;
      return [{ type: 'error', sequence_number: 0, error }];
    }
    const output_index = countOf(event.output_index) ?? 0;
    if (isRecord(event.item)) return this.#takeItem(type, output_index, event.item);
    this.#isOdd ||= !type.startsWith('response.');
    // The SDK fails at others that are odd, and needs none of them.
    if (!PIECES.includes(type)) return [];
    const item_id = textOf(event.item_id) ?? `item_${output_index}`;
    const place = { output_index, item_id, summary_index: countOf(event.summary_index) ?? 0 };
    const piece = { type, ...place, delta: argumentText(event.delta) };
    if (!TEXTS.includes(type) || this.#messages.has(item_id)) return [piece];
    return [...this.#takeItem(ADDED, output_index, { type: 'message', id: item_id }), piece];
  }

  end(isDone: boolean): object[] {
    if (this.#isFinished) return [];
    if (this.#isOdd && !this.#hasOutput)
      throw new UnreadableAnswerError('Nothing in the answer could be read.');
    return isDone ? [this.#finish('response.completed', {})] : [];
  }

  #finish(type: string, response: unknown): object {
    this.#isFinished = true;
    const { usage: counts, incomplete_details: why, error } = isRecord(response) ? response : {};
    const usage = usageOf(counts);
    const isCounted = usage?.input_tokens !== undefined && usage.output_tokens !== undefined;
    const reason = isRecord(why) ? textOf(why.reason) : undefined;
    const incomplete_details = reason === undefined ? null : { reason };
    const ended = {
      usage: isCounted ? usage : null,
      incomplete_details,
      error: errorOf({ error }),
    };
    return { type, sequence_number: 0, response: ended };
  }

  #takeItem(type: string, output_index: number, given: Fields): object[] {
    this.#hasOutput = true;
    if (!ITEMS.includes(String(given.type))) return [];
    const id = textOf(given.id) ?? `item_${output_index}`;
    if (given.type === 'message') this.#messages.add(id);
    const item: Fields = { ...given, id, phase: undefined };
    if (given.type === 'reasoning') item.encrypted_content = textOf(given.encrypted_content);
    if (given.type === 'function_call') {
      this.hasCalls = true;
      item.name = nameOf(given.name) ?? NAMELESS;
      item.call_id = textOf(given.call_id) ?? '';
      item.arguments = argumentText(given.arguments);
      item.status = 'completed';
    }
    return [{ type, output_index, item }];
  }

  #takeWhole(whole: Fields, output: readonly unknown[]): object[] {
    const items = output.filter(isRecord).flatMap((item, output_index) => {
      const parts = [item.content].flat().filter(isRecord);
      const text = parts.map((part) => textOf(part.text ?? part.refusal) ?? '').join('');
      const item_id = textOf(item.id) ?? `item_${output_index}`;
      const piece = { type: 'response.output_text.delta', item_id, output_index, delta: text };
      const ended = { type: 'response.output_item.done', output_index, item };
      return [{ type: ADDED, output_index, item }, ...(text === '' ? [] : [piece]), ended];
    });
    const type = whole.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
    return [...items, { type, response: whole }].flatMap((event) => this.take(event));
  }
}
