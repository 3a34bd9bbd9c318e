import { sameJson } from '../json/equal.ts';
import { callErrorSchema } from '../protocol/call-status.ts';
import type { Call } from './call.ts';
import type { CallEvent } from './call-event.ts';
import type { Refusal } from './call-state.ts';

type LateAnswer = Extract<CallEvent, { type: 'late_answer' }>;

/**
 * CA6: what answers a call after its end is compared with what ended it. Of answers that came too
 * late the first is kept, but an output rather than an error: that a tool was stopped says less
 * than what it had done by then. Null: this one is kept.
 */
export function mayBeKept(call: Call, event: LateAnswer): Refusal | null {
  // guard: no-reply-to-other-clients
  if (call.provider?.clientId !== event.from.clientId) return 'not_your_call';
  if (call.resultHash !== undefined) {
    // Mostly it is the same text; another text may be the same answer in another order of keys.
    // guard: second-answer-compared
    if (call.resultHash === event.fields?.resultHash || isAccepted(call, event)) return 'duplicate';
    return 'other_answer';
  }
  const kept = call.lateResult;
  if (kept === undefined || (!event.error && isLateError(kept))) return null;
  return event.error || sameJson(kept, lateResultOf(event)) ? 'late' : 'other_late_answer';
}

/** That the outcome is unknown, or that it was stopped, is on the card already. */
export function isNews({ error }: Call, { error: late }: LateAnswer): boolean {
  if (late?.code === 'cancelled') return false;
  return !(late?.code === 'outcome_unknown' && error?.code === 'outcome_unknown');
}

export const lateResultOf = ({ error, fields }: LateAnswer): unknown =>
  error ? { error } : fields?.result;

/** A display, which people are shown in place of the output, is no part of an answer. */
const isAccepted = (call: Call, { error, fields }: LateAnswer): boolean =>
  sameJson(
    call.error ? { error: call.error } : { output: call.result, attachments: call.attachments },
    error ? { error } : { output: fields?.result, attachments: fields?.attachments },
  );

const isLateError = (kept: unknown): boolean =>
  typeof kept === 'object' &&
  kept !== null &&
  Object.keys(kept).join() === 'error' &&
  callErrorSchema.safeParse(Object.values(kept)[0]).success;
