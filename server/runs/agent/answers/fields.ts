import { isRecord } from '#lib/json/is-record';

export type Fields = Record<string, unknown>;

/** Reads one answer of an OpenAI-compatible API, event by event, into events that the SDK takes. */
export interface AnswerReader {
  take(event: Fields): object[];
  /** Closes the answer; `isDone`: the server said that it is over. Throws `UnreadableAnswerError`. */
  end(isDone: boolean): object[];
  /** A call has begun, so that a piece that is lost may be one of its arguments. */
  readonly hasCalls: boolean;
}

/** Nothing in an answer, or not all of a call, could be read. */
export class UnreadableAnswerError extends Error {
  override readonly name = 'UnreadableAnswerError';
}

/** Text, also where a number stands for it; undefined for none. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The name of a tool, which no number is. */
export const nameOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? textOf(value) : undefined;

/** A number, also as text. */
export function countOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The JSON text of arguments, which some servers give as an object. */
export function argumentText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : '';
}

/** The counts of an answer, and those in its details; without what is none. */
export function usageOf(value: unknown, isDetail = false): Fields | undefined {
  if (!isRecord(value)) return undefined;
  const counts = Object.entries(value).map(([key, count]) => [
    key,
    isRecord(count) && !isDetail ? usageOf(count, true) : countOf(count),
  ]);
  return Object.fromEntries(counts.filter(([, count]) => count !== undefined));
}

/** The error that an event is, in the form that the SDK takes; an object without an answer is one, too. */
export function errorOf(event: Fields): Fields | undefined {
  const { error, message, detail, base_resp: ofMiniMax } = event;
  const isAnswer = (event.choices ?? event.output ?? event.item ?? null) !== null;
  const msg = isRecord(ofMiniMax) ? ofMiniMax.status_msg : undefined;
  const given = reasonIn(error) ?? (isAnswer ? undefined : reasonIn({ message, detail, msg }));
  if (given === undefined) return undefined;
  const { type, code } = isRecord(error) ? error : {};
  return { type: textOf(type) ?? 'error', code: textOf(code), message: given };
}

/** The reason in the body of an error, in the forms that servers have: OpenAI's, FastAPI's, text. */
export function reasonIn(body: unknown): string | undefined {
  if (Array.isArray(body)) {
    const reasons = body.slice(0, 5).map(reasonIn);
    return textOf(reasons.filter((reason) => reason !== undefined).join('; '));
  }
  if (!isRecord(body)) return textOf(body);
  const { message, msg, error, detail, loc, metadata } = body;
  const reason = [message, msg, error, detail].map(reasonIn).find((one) => one !== undefined);
  if (Array.isArray(loc) && reason !== undefined) return `${loc.join('.')}: ${reason}`;
  // OpenRouter has the words of the provider there, and none of its own.
  const words = isRecord(metadata) ? textOf(metadata.raw) : undefined;
  return words === undefined ? reason : `${reason ?? ''} ${words}`.trim();
}
