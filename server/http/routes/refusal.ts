import { HttpError } from '#lib/protocol/http-error';
import type { CallActionOutcome, InvokeRefusal } from '../../calls/call-service.ts';

type Refusal = Extract<CallActionOutcome, { ok: false }> | InvokeRefusal;

/** A service's refusal as an HTTP error. */
export function toRefusal(refusal: Refusal): HttpError {
  const { details: given, retryAfter } = refusal;
  const details = given ? { details: given } : {};
  if (refusal.code === 'conflict_idempotency') {
    // Contract, section 6: "other body, 422". The word stays that of a conflict: the arguments may be fine.
    return new HttpError('conflict', refusal.message, { ...details, status: 422 });
  }
  const more = retryAfter === undefined ? details : { ...details, retryAfter };
  return new HttpError(refusal.code, refusal.message, more);
}
