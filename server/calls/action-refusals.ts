import type { Call } from '#lib/call/call';
import { type Principal, principalName } from '../auth/room.ts';
import type { CallActionOutcome } from './call-service.ts';

/** Why what a person wants of a call is refused: what was wrong, and what would be right. */

export const notFound = (id: string): CallActionOutcome => ({
  ok: false,
  code: 'call_not_found',
  message: `No call ${id} is known here`,
});

export const alreadyFinal = (call: Call): CallActionOutcome => ({
  ok: false,
  code: 'already_final',
  message: `The call ${call.id} has ended already: ${call.status}${decidedBefore(call)}`,
  params: { status: call.status, ...firstDecision(call) },
});

export const denied = (message: string): CallActionOutcome => ({
  ok: false,
  code: 'permission_denied',
  message,
});

export const callerRevoked = ({ id }: Call): string =>
  `The call ${id} cannot be allowed any more: the token of its caller was revoked; decide "no" or cancel it`;

export const toBeAnswered = ({ id }: Call): CallActionOutcome =>
  conflict(
    `The call ${id} is a question: POST /v1/tool_calls/${id}/answer answers it, decision "no" declines`,
  );

/** The last place that can refuse it, after the routes. */
export const notAPerson = (principal: Principal): CallActionOutcome =>
  denied(
    `${principalName(principal)} may not decide on calls; that takes a person with the role "operator" or "admin"`,
  );

/** Those that were given back hold the mark of a secret in place of the secret. */
export const secretsMissing = ({ id }: Call) => ({
  ok: false as const,
  code: 'invalid_args' as const,
  message: `Arguments of the call ${id} are secret and not stored; give "args" with the values in place of "[redacted:…]"`,
  details: [{ path: '', problem: 'has "[redacted:…]" in place of a secret' }],
});

export const conflict = (message: string): CallActionOutcome => ({
  ok: false,
  code: 'conflict',
  message,
});

export const changedSince = (id: string): CallActionOutcome =>
  conflict(
    `The tool, or the client that would run it, has changed since the call ${id} was shown; look at it again and decide anew`,
  );

/** One decision is that of all of them: those that came since were not seen. */
export const moreThanShown = (waiting: number): CallActionOutcome =>
  conflict(
    `By now ${waiting} equal calls wait for this decision, more than were shown; look again and decide anew`,
  );

export const neverAlways = ({ toolName }: Call): CallActionOutcome =>
  conflict(`Calls like this one of ${toolName} are asked about each time; decide "yes" or "no"`);

export const notWaiting = (call: Call): CallActionOutcome => ({
  ok: false,
  code: 'conflict',
  message: `The call ${call.id} does not wait for an approval${decidedBefore(call)}`,
  params: { ...firstDecision(call) },
});

const DID = {
  yes: 'allowed',
  always: 'allowed',
  no: 'denied',
  answer: 'answered',
  cancel: 'cancelled',
} as const;

/** Who decided on the call, or cancelled it. */
function firstDecision({ card, error }: Call) {
  const { approval_decision: first, cancelled_by: by } = card;
  if (error?.code === 'cancelled' && by !== undefined) return { by, decision: 'cancel' as const };
  return first ? { by: first.by, decision: first.decision } : undefined;
}

/** The first decision counts, and who comes second sees whose it was. */
function decidedBefore(call: Call): string {
  const first = firstDecision(call);
  return first ? `; ${first.by} ${DID[first.decision]} it before` : '';
}
