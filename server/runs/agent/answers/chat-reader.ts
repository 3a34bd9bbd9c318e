import { isRecord } from '#lib/json/is-record';
import { ChunkCalls } from './chunk-calls.ts';
import {
  type AnswerReader,
  countOf,
  errorOf,
  type Fields,
  textOf,
  UnreadableAnswerError,
  usageOf,
} from './fields.ts';

/** Reads chunks of the chat API, and a whole answer as one of these. */
export class ChatReader implements AnswerReader {
  readonly #calls = new ChunkCalls();
  #isOdd = false;
  #hasChoice = false;
  #hasWords = false;
  #isFinished = false;
  /** Counts without a choice come last: the server has ended, whatever it leaves out. */
  #isCounted = false;

  get hasCalls(): boolean {
    return this.#calls.hasAny;
  }

  take(event: Fields): object[] {
    const error = errorOf(event);
    if (error) {
      this.#isFinished = true;
      return [{ error }];
    }
    const usage = usageOf(event.usage);
    const head = { id: textOf(event.id), created: countOf(event.created), usage };
    const choice = [event.choices].flat().find(isRecord);
    if (choice) return [{ ...head, choices: [this.#choiceOf(choice)] }];
    this.#isCounted ||= usage !== undefined;
    this.#isOdd ||= usage === undefined;
    return usage ? [{ ...head, choices: [] }] : [];
  }

  end(isDone: boolean): object[] {
    const hasAnswer = this.#hasChoice || this.#isCounted;
    if (this.#isOdd && !hasAnswer && !this.#isFinished)
      throw new UnreadableAnswerError('Nothing in the answer could be read.');
    if (this.#isFinished || !(isDone || this.#isCounted)) return [];
    return [
      { choices: [this.#choiceOf({ finish_reason: this.hasCalls ? 'tool_calls' : 'stop' })] },
    ];
  }

  #choiceOf(choice: Fields): object {
    // A whole message stands for pieces only where there were none.
    const whole = this.#hasWords || this.hasCalls ? undefined : choice.message;
    const delta = [choice.delta, whole].find(isRecord) ?? { content: choice.text };
    const { text, thoughts } = wordsOf(delta.content);
    const reasoning = [thoughts, delta.reasoning_content, delta.reasoning, delta.thinking];
    const calls = [delta.tool_calls ?? delta.function_call].flat();
    const tool_calls = calls.flatMap((piece) => this.#calls.take(piece));
    const finish_reason = textOf(choice.finish_reason) ?? null;
    if (finish_reason !== null) tool_calls.push(...this.#calls.release());
    this.#isFinished ||= finish_reason !== null;
    this.#hasChoice = true;
    this.#hasWords ||= isText(text);
    const words = { content: text, reasoning_content: reasoning.find(isText) };
    const refusal = isText(delta.refusal) ? delta.refusal : undefined;
    return { index: 0, delta: { ...words, refusal, tool_calls }, finish_reason };
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Text, or a list of parts, among them thoughts, as Mistral has them. */
function wordsOf(content: unknown): { readonly text?: string; readonly thoughts?: string } {
  if (typeof content === 'string' || typeof content === 'number') return { text: `${content}` };
  const parts = [content]
    .flat()
    .map((one) => (typeof one === 'string' ? { text: one } : one))
    .filter(isRecord);
  const joined = (isWanted: boolean) =>
    parts
      .filter(({ type }) => (type === 'thinking' || type === 'reasoning') === isWanted)
      .map((part) => part.text ?? part.thinking ?? part.reasoning)
      .map((words) => (isText(words) ? words : (wordsOf(words).text ?? '')))
      .join('');
  return parts.length === 0 ? {} : { text: joined(false), thoughts: joined(true) };
}
