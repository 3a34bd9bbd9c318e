import { HttpError } from '#lib/protocol/http-error';
import { given } from '#lib/util/given';
import type { CallActionOutcome, InvokeRefusal } from '../../calls/room.ts';

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
