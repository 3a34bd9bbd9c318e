import { isRecord } from '#lib/json/is-record';
import { NAMELESS } from '../mend-calls.ts';
import { JsonExtent } from '../text-calls/json-extent.ts';
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

interface ChunkCall {
  readonly index: number;
  id: string | undefined;
  name: string | undefined;
  /** Google's server wants this back with it. */
  readonly extra: unknown;
  /** Arguments that came before the name. */
  held: string;
  readonly extent: JsonExtent;
  /** Its arguments have had their last bracket. */
  isWhole: boolean;
}

/** This is set behind an id that an earlier call of the answer has. */
export const SAME_ID = /~\d+$/;

/**
 * The pieces of calls of the chat API. A piece belongs to a call by its place, its id or its name,
 * whichever of them a server gives. A call goes out once its name is there, at the end as `NAMELESS`
 * (AL104): the SDK would drop it or fail at it.
 */
class ChunkCalls {
  readonly #calls: ChunkCall[] = [];
  readonly #byPlace = new Map<number, ChunkCall>();

  get hasAny(): boolean {
    return this.#calls.length > 0;
  }

  /** Gives what goes to the SDK in place of the piece. */
  take(piece: unknown): object[] {
    if (!isRecord(piece)) return [];
    const given = isRecord(piece.function) ? piece.function : piece;
    const name = nameOf(given.name);
    const args = argumentText(given.arguments);
    const place = countOf(piece.index);
    const call = this.#find(place, textOf(piece.id), name, args) ?? this.#begin(piece);
    if (place !== undefined) this.#byPlace.set(place, call);
    for (let at = 0; at < args.length && !call.isWhole; at += 1) {
      call.isWhole = call.extent.take(args.charAt(at)) === 'closed';
    }
    call.id ??= textOf(piece.id);
    const isNamed = call.name !== undefined;
    call.name ??= name;
    if (isNamed) return [{ index: call.index, function: { arguments: args } }];
    call.held += args;
    return call.name === undefined ? [] : [started(call, call.name)];
  }

  /** The answer is over: no name comes any more. */
  release(): object[] {
    const nameless = this.#calls.filter(({ name }) => name === undefined);
    return nameless.map((call) => started(call, NAMELESS));
  }

  #find(
    place: number | undefined,
    id: string | undefined,
    name: string | undefined,
    args: string,
  ): ChunkCall | undefined {
    const byId = id === undefined ? undefined : this.#calls.findLast((call) => call.id === id);
    const last = byId ?? this.#calls.at(-1);
    const current = place === undefined ? last : this.#byPlace.get(place);
    if (!current || name === undefined || current.name === undefined) return current;
    // Some servers give all calls one place, or none; others repeat the name, or change the id, in each piece.
    const isBlank = args.trim() === '';
    const isOtherId = id !== undefined && current.id !== undefined && id !== current.id;
    const isOther = isOtherId && (isBlank || args.trimStart().startsWith('{'));
    const isOtherName = place === undefined && id === undefined && name !== current.name;
    return isOther || isOtherName || (current.isWhole && !isBlank) ? undefined : current;
  }

  #begin(piece: Fields): ChunkCall {
    const id = textOf(piece.id);
    const index = this.#calls.length;
    const isTaken = id !== undefined && this.#calls.some((call) => call.id === id);
    const call: ChunkCall = {
      index,
      id: isTaken ? `${id}~${index}` : id,
      name: undefined,
      held: '',
      extra: piece.extra_content,
      extent: new JsonExtent(),
      isWhole: false,
    };
    this.#calls.push(call);
    return call;
  }
}

function started({ index, id, extra, held }: ChunkCall, name: string): object {
  const google = isRecord(extra) && isRecord(extra.google) ? extra.google : {};
  const thought_signature = textOf(google.thought_signature);
  return {
    index,
    id,
    type: 'function',
    function: { name, arguments: held },
    ...(thought_signature !== undefined && { extra_content: { google: { thought_signature } } }),
  };
}
