import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type LanguageModelUsage,
  type ModelMessage,
  streamText,
  type TextStreamPart,
  type ToolSet,
} from 'ai';
import type { ModelUsage } from '#lib/protocol/model-turn';
import { abortable } from '#lib/util/abortable';
import { errorMessage } from '#lib/util/error-message';
import type { Clock } from '../../base/clock.ts';
import type { MessageWriter, ResolvedModel } from './agent.ts';
import { readArguments } from './mend-calls.ts';
import { StreamCutError } from './notices.ts';
import { toReplayMetadata } from './replay.ts';
import { createSilenceWatch, type SilenceWatch } from './silence-watch.ts';
import type { StepCalls, WrittenCall } from './step-calls.ts';
import { callInText } from './text-calls/call-parser.ts';
import { type AnswerPiece, ThoughtReader } from './thoughts.ts';
import type { ModelTools } from './tools.ts';
export interface StepRequest {
  readonly model: ResolvedModel;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  /** Null for the last answer, which may call nothing. */
  readonly tools: ModelTools | null;
  readonly calls: StepCalls;
  readonly writer: MessageWriter;
  /** The header of the request; undefined for none. */
  readonly traceparent: string | undefined;
  readonly onAnswered: () => void;
  readonly signal: AbortSignal;
  readonly clock: Clock;
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
 * with the reason of `signal` when that aborts, with `StepFailedError` for the rest.
 */
export async function streamStep(request: StepRequest): Promise<StepEnd> {
  const silence = createSilenceWatch(request.clock, request.model.patience);
  const progress: Progress = { isSilent: true, text: '', thoughts: new ThoughtReader() };
  try {
    return await readStep(request, silence, progress);
  } catch (error) {
    if (request.signal.aborted) throw error;
    const cause = silence.signal.aborted ? silence.signal.reason : error;
    throw new StepFailedError(cause, progress.isSilent);
  } finally {
    silence.end();
  }
}

interface Progress {
  isSilent: boolean;
  /** The beginning of the text that shows. */
  text: string;
  readonly thoughts: ThoughtReader;
}

const MOST_TEXT = 32 * 1024;

/** So much of one piece of text is read before everything else has its turn. */
const PIECE_CHARS = 16 * 1024;
/** So long the pieces of an answer may keep the program busy, however many come at once. */
const TURN_MS = 5;

async function readStep(
  request: StepRequest,
  silence: SilenceWatch,
  progress: Progress,
): Promise<StepEnd> {
  const abortSignal = AbortSignal.any([request.signal, silence.signal]);
  const parts = silence.listen(() => ask(request, abortSignal))[Symbol.asyncIterator]();
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
    if (part.type === 'finish') return { ...endOf(part), ...wordsOf(progress, request) };
    if (CONTENT.has(part.type) && progress.isSilent) {
      progress.isSilent = false;
      request.onAnswered();
    }
    await abortable(abortSignal, takePart(part, request, progress));
  }
}

function ask(request: StepRequest, abortSignal: AbortSignal) {
  const { model, tools } = request;
  return streamText({
    model: model.languageModel,
    instructions: request.instructions,
    messages: [...request.messages],
    ...(tools ? { tools: tools.tools } : {}),
    providerOptions: model.providerOptions,
    ...(request.traceparent !== undefined && { headers: { traceparent: request.traceparent } }),
    abortSignal,
    // Retries are the loop's: it sees whether any text came, and waits by its own clock.
    maxRetries: 0,
    // The `error` part carries it; the default prints it.
    onError: () => undefined,
  }).stream;
}

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

const CONTENT: ReadonlySet<Part['type']> = new Set<Part['type']>([
  ...(['text-delta', 'reasoning-delta', 'reasoning-end', 'tool-input-start', 'tool-call'] as const),
]);

function wordsOf({ text }: Progress, { tools, model }: StepRequest) {
  const isNative = tools !== null && model.toolPrompt === null;
  const names = isNative ? tools.definitions.map(({ name }) => name) : [];
  return { isWordless: text.trim() === '', toolInText: callInText(text, names) };
}

async function takePart(part: Part, request: StepRequest, progress: Progress): Promise<void> {
  const { writer, calls, tools } = request;
  if (isBlock(part)) await takeBlock(part, writer, progress);
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

type BlockPart = Extract<Part, { type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}` }>;

const isBlock = (part: Part): part is BlockPart => /^(text|reasoning)-/.test(part.type);

async function takeBlock(
  part: BlockPart,
  writer: MessageWriter,
  progress: Progress,
): Promise<void> {
  const kind = part.type.startsWith('text') ? 'text' : 'reasoning';
  const { id } = part;
  const isEnd = part.type.endsWith('-end');
  const { thoughts } = progress;
  const delta = 'text' in part ? part.text : '';
  if (kind === 'text') {
    const show = (pieces: readonly AnswerPiece[]) => takePieces(pieces, id, writer, progress);
    for (let at = 0; at < delta.length; at += PIECE_CHARS) {
      if (at > 0) await nextTurn();
      show(thoughts.push(delta.slice(at, at + PIECE_CHARS)));
    }
    if (isEnd) show(thoughts.end());
  }
  writer.append(kind, kind === 'reasoning' ? delta : '', {
    id,
    isStart: part.type.endsWith('-start'),
    isEnd,
    metadata: toReplayMetadata(part.providerMetadata),
  });
}

function takePieces(
  pieces: readonly AnswerPiece[],
  id: string,
  writer: MessageWriter,
  progress: Progress,
): void {
  for (const piece of pieces) {
    if (piece.kind === 'text')
      progress.text += piece.text.slice(0, MOST_TEXT - progress.text.length);
    else if (piece.kind === 'rethink') progress.text = '';
    if (piece.kind === 'rethink') writer.rethink();
    else writer.append(piece.kind, piece.text, { id, isOfText: piece.kind === 'reasoning' });
  }
}

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
