import { hash } from 'node:crypto';
import { APICallError } from 'ai';
import { MODEL_OUTPUT_VERSION } from '#lib/call/model-output';
import { readRetryAfter } from '#lib/net/backoff';
import type { SentPart } from '#lib/protocol/model-turn';
import type { RunSettings } from '#lib/protocol/run';
import { abortable } from '#lib/util/abortable';
import type { HandedResult } from './build-model-history.ts';
import { type Lesson, lessonOf } from './lessons.ts';
import { type Notice, notice } from './notices.ts';
import { preparePrompt, refusableOf, type StepPlan, type StepPrompt } from './prepare-prompt.ts';
import type { Turn } from './turn.ts';

/** A request that is about to be made. */
export interface PreparedRequest extends StepPrompt {
  readonly described: ReturnType<typeof describeRequest>;
  readonly lesson: Lesson;
  /** How the model is asked. */
  readonly settings: RunSettings;
}

export async function prepareRequest(
  turn: Turn,
  plan: StepPlan,
  lesson = turn.deps.lessons.of(turn.model.ref, turn.runId),
): Promise<PreparedRequest> {
  const prompt = await abortable(turn.signal, preparePrompt(turn, plan, lesson));
  const described = describeRequest(prompt, turn.deps.resultBytes);
  const settings = { ...turn.deps.settings, ...turn.model.settings, ...turn.settings };
  return { ...prompt, described, lesson, settings };
}

/** The request once more without what was refused (AL220); undefined where that is no use. */
export async function withoutRefused(
  turn: Turn,
  plan: StepPlan,
  refused: PreparedRequest,
  refusal: unknown,
): Promise<PreparedRequest | undefined> {
  const before = refused.lesson;
  const drawn = lessonOf(refusal, refusableOf(turn, refused), before);
  if (!drawn) return undefined;
  // Fields that did not help are sent again.
  const { without } = turn.deps.lessons.of(turn.model.ref, turn.runId);
  const lesson = drawn.older > before.older ? { ...drawn, without } : drawn;
  const request = await prepareRequest(turn, plan, lesson);
  const isShorter = request.described.prompt_sha256 !== refused.described.prompt_sha256;
  return isShorter || lesson.contextTokens === before.contextTokens ? request : undefined;
}

/** People read these once a request was answered that another lesson was drawn for. */
export function refusedNotices(model: string, before: Lesson, after: Lesson): Notice[] {
  const isNew = (kind: 'without' | 'tools') =>
    [...after[kind]].filter((name) => !before[kind].has(name));
  const names = [...isNew('without'), ...isNew('tools')];
  const hasLostImages = after.images.size > before.images.size || after.isBlind !== before.isBlind;
  return [
    ...(hasLostImages ? [notice('images_refused', { model })] : []),
    ...(names.length > 0 ? [notice('content_refused', { model, names: names.join(', ') })] : []),
  ];
}

/** Hashes of a request are recorded, by which it can be checked later what the model got. */
function describeRequest(
  { instructions, messages, results, tools }: StepPrompt,
  resultBytes: number,
) {
  const offered = tools?.definitions ?? [];
  const tools_sha256 = offered.length === 0 ? null : hash('sha256', JSON.stringify(offered));
  const prompt = JSON.stringify([instructions, messages, tools_sha256], bytesAsHash);
  return {
    tools_offered: offered.length,
    tools_sha256,
    prompt_sha256: hash('sha256', prompt),
    rendering: MODEL_OUTPUT_VERSION,
    results: results.map((result) => sentPart(result, resultBytes)),
  };
}

const sentPart = ({ toolCallId, text, cut, images }: HandedResult, limit: number): SentPart => ({
  tool_call_id: toolCallId,
  sha256: hash('sha256', text),
  // It counts the text as UTF-8.
  bytes: Buffer.byteLength(text),
  cut,
  limit,
  images: images.map(({ blobId, mediaType, bytes }) => ({
    blob_id: blobId,
    media_type: mediaType,
    sha256: hash('sha256', bytes),
    bytes: bytes.byteLength,
  })),
});

/** Pictures would be a list of numbers; a `Buffer` has become one before it gets here, so its holder is asked. */
function bytesAsHash(this: unknown, key: string, value: unknown): unknown {
  const held: unknown = typeof this === 'object' && this !== null ? Reflect.get(this, key) : value;
  return held instanceof Uint8Array ? hash('sha256', held) : value;
}

/** Short, as a person is waiting: longer troubles become a notice. */
const BACKOFF_MS = [500, 2_000];
const LONGEST_WAIT_MS = 5_000;

/**
 * Milliseconds to wait before a model is asked again, after `failures` failed
 * requests; undefined when asking again is no use. Only limits (429) and
 * failures of the provider (5xx) pass by themselves.
 */
export function retryDelay(
  error: unknown,
  failures: number,
  maxRetries: number,
): number | undefined {
  if (failures > maxRetries || !APICallError.isInstance(error)) return undefined;
  const status = error.statusCode ?? 0;
  if (status !== 429 && status < 500) return undefined;
  if (/insufficient_quota/.test(error.responseBody ?? '')) return undefined;
  const asked = readRetryAfter(error.responseHeaders?.['retry-after'] ?? null);
  if (asked !== undefined && asked > LONGEST_WAIT_MS) return undefined;
  return asked ?? BACKOFF_MS[Math.min(failures, BACKOFF_MS.length) - 1] ?? LONGEST_WAIT_MS;
}
