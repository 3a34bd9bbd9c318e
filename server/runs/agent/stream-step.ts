import { setImmediate as nextTurn } from 'node:timers/promises';
import { type LanguageModelUsage, streamText, type TextStreamPart, type ToolSet } from 'ai';
import type { ModelUsage } from '#lib/protocol/model-turn';
import { abortable } from '#lib/util/abortable';
import { errorMessage } from '#lib/util/error-message';
import { given } from '#lib/util/given';
import type { MessageWriter } from '../message-writer.ts';
import { readArguments } from './mend-calls.ts';
import { StreamCutError } from './notices.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { toReplayMetadata } from './replay.ts';
import { createSilenceWatch, type SilenceWatch } from './silence-watch.ts';
import type { StepCalls, WrittenCall } from './step-calls.ts';
import { callInText } from './text-calls/call-parser.ts';
import { type AnswerPiece, ThoughtReader } from './thoughts.ts';
import type { Turn } from './turn.ts';

/** A request, and who takes its answer. */
export interface Asking {
  readonly turn: Turn;
  readonly request: PreparedRequest;
  readonly calls: StepCalls;
  readonly writer: MessageWriter;
  /** The header of the request; undefined for none. */
  readonly traceparent: string | undefined;
  readonly onAnswered: () => void;
}

export interface StepEnd {
  readonly finishReason: string;
  readonly usage: ModelUsage;
  /** Not one character of text that shows. */
  readonly isWordless: boolean;
  /** The tool of which the text holds a call, from a model that should have called it. */
  readonly toolInText: string | undefined;
}

/** The model's stream failed. With `isSilent` it may be asked again as if it had not been. */
export class StepFailedError extends Error {
  override readonly name = 'StepFailedError';
  readonly isSilent: boolean;

  constructor(cause: unknown, isSilent: boolean) {
    super(errorMessage(cause), { cause });
    this.isSilent = isSilent;
  }
}

type Part = TextStreamPart<ToolSet>;

/**
 * Asks the model once and writes down what it says while it says it. Rejects
 * with the reason of the turn's signal when that aborts, with `StepFailedError` for the rest.
 */
export async function streamStep(asking: Asking): Promise<StepEnd> {
  const { deps, model, signal } = asking.turn;
  const silence = createSilenceWatch(deps.clock, model.patience);
  const answer = new Answer(asking);
  try {
    return await answer.read(silence);
  } catch (error) {
    if (signal.aborted) throw error;
    const cause = silence.signal.aborted ? silence.signal.reason : error;
    throw new StepFailedError(cause, answer.isSilent);
  } finally {
    silence.end();
  }
}

const MOST_TEXT = 32 * 1024;

/** So much of one piece of text is read before everything else has its turn. */
const PIECE_CHARS = 16 * 1024;
/** So long the pieces of an answer may keep the program busy, however many come at once. */
const TURN_MS = 5;

const CONTENT: ReadonlySet<Part['type']> = new Set<Part['type']>([
  ...(['text-delta', 'reasoning-delta', 'reasoning-end', 'tool-input-start', 'tool-call'] as const),
]);

class Answer {
  readonly #asking: Asking;
  readonly #thoughts = new ThoughtReader();
  /** The beginning of the text that shows. */
  #text = '';
  isSilent = true;

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  async read(silence: SilenceWatch): Promise<StepEnd> {
    const { turn, onAnswered } = this.#asking;
    const abortSignal = AbortSignal.any([turn.signal, silence.signal]);
    const parts = silence.listen(() => this.#ask(abortSignal))[Symbol.asyncIterator]();
    let began = performance.now();
    for (;;) {
      if (performance.now() - began > TURN_MS) {
        await nextTurn();
        began = performance.now();
      }
      const next = await abortable(abortSignal, parts.next());
      if (next.done) throw new StreamCutError('The stream ended without a finish.');
      silence.touch();
      const part = next.value;
      if (part.type === 'error') throw part.error;
      if (part.type === 'finish') return { ...endOf(part), ...this.#words() };
      if (CONTENT.has(part.type) && this.isSilent) {
        this.isSilent = false;
        onAnswered();
      }
      await abortable(abortSignal, this.#take(part));
    }
  }

  #ask(abortSignal: AbortSignal) {
    const { turn, request, traceparent } = this.#asking;
    const { lesson, settings, instructions, messages, tools } = request;
    const { temperature, reasoning_effort: reasoning } = settings;
    return streamText({
      model: turn.model.taught(lesson),
      ...given({ temperature, reasoning }),
      instructions,
      messages: [...messages],
      ...(tools ? { tools: tools.tools } : {}),
      providerOptions: turn.model.providerOptions,
      ...(traceparent !== undefined && { headers: { traceparent } }),
      abortSignal,
      // Retries are the loop's: it sees whether any text came, and waits by its own clock.
      maxRetries: 0,
      // The `error` part carries it; the default prints it.
      onError: () => undefined,
    }).stream;
  }

  #words(): Pick<StepEnd, 'isWordless' | 'toolInText'> {
    const { turn, request } = this.#asking;
    const isNative = request.tools !== null && turn.model.toolPrompt === null;
    const names = isNative ? request.tools.definitions.map(({ name }) => name) : [];
    return { isWordless: this.#text.trim() === '', toolInText: callInText(this.#text, names) };
  }

  async #take(part: Part): Promise<void> {
    const { calls, request } = this.#asking;
    const { tools } = request;
    if (isBlock(part)) await this.#takeBlock(part);
    // Calls of a model that was offered nothing are not written down: they never were calls.
    if (!tools) return;
    if (part.type === 'tool-input-start') await calls.begin(part.id, tools.find(part.toolName));
    else if (part.type === 'tool-input-delta') calls.write(part.id, part.delta);
    else if (part.type === 'tool-call') {
      await calls.written({
        modelId: part.toolCallId,
        tool: tools.find(part.toolName),
        ...argumentsOf(part),
        metadata: toReplayMetadata(part.providerMetadata),
      });
    }
  }

  async #takeBlock(part: BlockPart): Promise<void> {
    const { id, type } = part;
    const isText = type.startsWith('text');
    const isEnd = type.endsWith('-end');
    const delta = 'text' in part ? part.text : '';
    for (let at = 0; isText && at < delta.length; at += PIECE_CHARS) {
      if (at > 0) await nextTurn();
      this.#show(id, this.#thoughts.push(delta.slice(at, at + PIECE_CHARS)));
    }
    if (isText && isEnd) this.#show(id, this.#thoughts.end());
    this.#asking.writer.append(isText ? 'text' : 'reasoning', isText ? '' : delta, {
      id,
      isStart: type.endsWith('-start'),
      isEnd,
      metadata: toReplayMetadata(part.providerMetadata),
    });
  }

  #show(id: string, pieces: readonly AnswerPiece[]): void {
    const { writer } = this.#asking;
    for (const piece of pieces) {
      if (piece.kind === 'rethink') {
        this.#text = '';
        writer.rethink();
        continue;
      }
      if (piece.kind === 'text') this.#text += piece.text.slice(0, MOST_TEXT - this.#text.length);
      writer.append(piece.kind, piece.text, { id, isOfText: piece.kind === 'reasoning' });
    }
  }
}

type BlockPart = Extract<Part, { type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}` }>;

const isBlock = (part: Part): part is BlockPart => /^(text|reasoning)-/.test(part.type);

/** A stream that just stops is `interrupted`, or gives no reason of its provider's. */
function endOf(part: Extract<Part, { type: 'finish' }>): Pick<StepEnd, 'finishReason' | 'usage'> {
  const isNoReason = part.finishReason === 'other' && part.rawFinishReason === undefined;
  if (part.finishReason === 'interrupted' || part.finishReason === 'error' || isNoReason) {
    throw new StreamCutError('The stream ended without a finish.');
  }
  return { finishReason: part.finishReason, usage: toUsage(part.totalUsage) };
}

const toUsage = (usage: LanguageModelUsage): ModelUsage => ({
  input_tokens: usage.inputTokens ?? null,
  output_tokens: usage.outputTokens ?? null,
  reasoning_tokens: usage.outputTokenDetails.reasoningTokens ?? null,
  cached_tokens: usage.inputTokenDetails.cacheReadTokens ?? null,
});

/** Arguments that are no JSON are texts here. What the SDK says of a tool's name is decided by `find`. */
function argumentsOf(
  part: Extract<Part, { type: 'tool-call' }>,
): Pick<WrittenCall, 'input' | 'unreadable'> {
  const input: unknown = part.input ?? {};
  const isUnread = 'invalid' in part && typeof input === 'string' && input.trim() !== '';
  if (!isUnread) return { input, unreadable: undefined };
  const read = readArguments(input);
  return { input: read ?? {}, unreadable: read ? undefined : input };
}
