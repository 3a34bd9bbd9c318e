import type { Call } from '#lib/call/call';
import type { CallActionOutcome, InvokeRefusal } from '#lib/call/call-outcome';
import { toRecord } from '#lib/call/view';
import { estimateJsonBytes } from '#lib/json/measure-json';
import { HttpError } from '#lib/protocol/http-error';
import { LIMITS } from '#lib/protocol/limits';
import { given } from '#lib/util/given';
import type { HttpResponse } from '../response.ts';
import type { RequestContext } from '../route.ts';

/** A shorter one is text at once sooner. */
const LONG_BYTES = 16 * 1024;

/** A large record that is in memory waits for its turn before it becomes text, as one that is read has. */
export async function recordAnswer(context: RequestContext, call: Call): Promise<HttpResponse> {
  const { args, result, display, lateResult } = call;
  const bytes = estimateJsonBytes([args, result, display, lateResult]);
  if (!context.isLarge()) await context.makeRoom(bytes);
  return { status: 200, json: toRecord(call), isLong: bytes > LONG_BYTES };
}

/** For the reference. */
export const IDEMPOTENCY_HEADERS = {
  'Idempotency-Key': `1 to ${LIMITS.idempotencyKeyChars} characters: the same key and body give the same call, another body is 422`,
};

/** The key of a request that may be repeated: with the same one and the same request it is the same call. */
export function readIdempotencyKey({ incoming }: RequestContext): string | undefined {
  const key = incoming.headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  if (key.length > 0 && key.length <= LIMITS.idempotencyKeyChars) return key;
  throw new HttpError(
    'bad_request',
    `Idempotency-Key has ${key.length} characters; it takes 1 to ${LIMITS.idempotencyKeyChars}.`,
  );
}

type Refusal = Extract<CallActionOutcome, { ok: false }> | InvokeRefusal;

/** A service's refusal as an HTTP error. */
export function toRefusal(refusal: Refusal): HttpError {
  const { details, retryAfter } = refusal;
  const more = given({
    details,
    retryAfter,
    params: 'params' in refusal ? refusal.params : undefined,
  });
  if (refusal.code === 'conflict_idempotency') {
    // Contract, section 6: "other body, 422". The word stays that of a conflict: the arguments may be fine.
    return new HttpError('conflict', refusal.message, { ...more, status: 422 });
  }
  return new HttpError(refusal.code, refusal.message, more);
}
