import { isRecord } from '#lib/json/is-record';
import { type ParsedJson, parseJson } from '#lib/json/parse-json';
import { type ClientMessage, clientMessageSchema } from '#lib/protocol/client-messages';
import { failureText } from '#lib/protocol/failure-text';
import { LIMITS } from '#lib/protocol/limits';
import { wellFormed } from '#lib/text/map-texts';
import { mapTexts } from '#lib/text/redact';
import { given } from '#lib/util/given';
import type { UnreadableAnswer } from './client-answer.ts';
export type ParsedFrame =
  | { readonly ok: true; readonly message: ClientMessage }
  | {
      readonly ok: false;
      readonly message: string;
      /** Names the message that was not understood. */
      readonly id: string | undefined;
      /** The call that the frame was to answer. */
      readonly answerTo: string | undefined;
      /** Ends that call: given unless the frame names an attempt that cannot exist. */
      readonly answer: UnreadableAnswer | undefined;
    };

/** They go to every watcher and stay in a list; what is large belongs into the result. */
const BOUNDED: ReadonlySet<unknown> = new Set(['tool_status', 'client_state']);

/** The limit is that of the fields; type, id and attempt stand around them. */
const STATUS_FRAME_CHARS = LIMITS.statusBytes + 1_024;

/** The one place where a client's text becomes a message. Total: it never throws. */
export function parseClientFrame(text: string): ParsedFrame {
  const limits = { maxDepth: LIMITS.jsonDepth, maxNodes: LIMITS.jsonNodes };
  const parsed = withPlainFailure(withoutNul(text, parseJson(text, limits, toWellFormed)));
  if (!parsed.ok) return unreadable(parsed.message, headOf(text));
  const frame = isRecord(parsed.value) ? parsed.value : {};
  // Before its fields are looked at: to check ten thousands of them takes long.
  if (text.length > STATUS_FRAME_CHARS && BOUNDED.has(frame.type)) {
    return unreadable(
      `A ${frame.type} takes at most ${LIMITS.statusBytes} bytes; send large data with the result`,
      frame,
    );
  }
  // guard: messages-checked
  const checked = clientMessageSchema.safeParse(parsed.value);
  if (checked.success) return { ok: true, message: checked.data };
  const [issue] = checked.error.issues;
  const where = issue?.path.join('.') || 'the message';
  const what = `${where}: ${issue?.message ?? 'is not a message of this protocol'}`;
  return unreadable(what, frame);
}

const toWellFormed = (text: string): string => text.toWellFormed();

/** A result stays as the tool gave it, NUL included; nothing else of a frame has a NUL. */
function withoutNul(text: string, parsed: ParsedJson): ParsedJson {
  if (!parsed.ok || !isRecord(parsed.value) || !text.includes('\\u0000')) return parsed;
  const value = mapTexts(parsed.value, wellFormed);
  if (value.type !== 'tool_result') return { ok: true, value };
  const { output, display } = parsed.value;
  return { ok: true, value: { ...value, ...given({ output, display }) } };
}

/** A failure has two spellings, and needs no text: both become a `tool_error` with one. */
function withPlainFailure(parsed: ParsedJson): ParsedJson {
  if (!parsed.ok || !isAnswer(parsed.value)) return parsed;
  const { type, id, attempt, success, output, error, code } = parsed.value;
  if (type === 'tool_result' && success !== false) return parsed;
  const text = failureText(type === 'tool_error' ? error : output);
  const named = typeof code === 'string' && code.length <= CODE_CHARS ? code : undefined;
  return { ok: true, value: { type: 'tool_error', id, attempt, error: text, code: named } };
}

const CODE_CHARS = 64;

/** This system's own clients begin an answer so; it finds one that is too deep or too large to be parsed. */
const ANSWER_HEAD =
  /^\s*\{\s*"type"\s*:\s*"(tool_(?:result|error))"\s*,\s*"id"\s*:\s*"([^"\\]{1,128})"(?:\s*,\s*"attempt"\s*:\s*(\d{1,9})(?=\s*[,}])|(?!\s*,\s*"attempt"))/;

function headOf(text: string): Record<string, unknown> {
  const [, type, id, attempt] = ANSWER_HEAD.exec(text) ?? [];
  return { type, id, attempt: attempt === undefined ? undefined : Number(attempt) };
}

const isAnswer = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && (value.type === 'tool_result' || value.type === 'tool_error');

function unreadable(message: string, frame: Record<string, unknown>): ParsedFrame {
  const { attempt } = frame;
  const id = isId(frame.id) ? frame.id : undefined;
  const answerTo = isAnswer(frame) ? id : undefined;
  const answer =
    answerTo !== undefined && (attempt === undefined || isAttempt(attempt))
      ? ({ type: 'unreadable_answer', id: answerTo, attempt, message } as const)
      : undefined;
  return { ok: false, message, id, answerTo, answer };
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 128;

const isAttempt = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0;
