import type { ErrorDetail, ErrorParams } from '../protocol/http-error.ts';
import type { Call } from './call.ts';

/** A request that is refused before there is a call: nothing is recorded, the caller is told why. */
export interface InvokeRefusal {
  readonly ok: false;
  readonly code:
    | 'tool_not_found'
    | 'run_not_found'
    | 'conflict'
    | 'permission_denied'
    | 'invalid_args'
    | 'no_provider'
    | 'conflict_idempotency'
    | 'rate_limited'
    | 'shutting_down'
    | 'store_failed';
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
  /** It is given in seconds, with `rate_limited`. */
  readonly retryAfter?: number;
}

interface Done {
  readonly ok: true;
  readonly call: Call;
  /** Its Idempotency-Key is that of a request that was made before: nothing was done now. */
  readonly isRepeat?: true;
  /** The rule of an "always" that was written. */
  readonly ruleId?: string;
}

export type InvokeOutcome = Done | InvokeRefusal;

export type CallActionOutcome =
  | Done
  | {
      readonly ok: false;
      readonly code: 'call_not_found' | 'already_final' | InvokeRefusal['code'];
      readonly message: string;
      readonly details?: readonly ErrorDetail[];
      /** Pages say by them whose decision came first, and how the call ended. */
      readonly params?: ErrorParams;
      readonly retryAfter?: number;
    };

export const reject = (code: InvokeRefusal['code'], message: string): InvokeRefusal => ({
  ok: false,
  code,
  message,
});

export const conflict = (message: string): InvokeRefusal => reject('conflict', message);

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

export const notWaiting = (call: Call): CallActionOutcome => ({
  ...conflict(`The call ${call.id} does not wait for an approval${decidedBefore(call)}`),
  params: { ...firstDecision(call) },
});

/** Arguments that were given back hold the mark of a secret in place of the secret. */
export const secretsMissing = ({ id }: Call) => ({
  ok: false as const,
  code: 'invalid_args' as const,
  message: `Arguments of the call ${id} are secret and not stored; give "args" with the values in place of "[redacted:…]"`,
  details: [{ path: '', problem: 'has "[redacted:…]" in place of a secret' }],
});

export const invalidArgs = (
  toolName: string,
  details: readonly { path: string; problem: string }[],
) => ({
  code: 'invalid_args' as const,
  message: `The arguments do not fit ${toolName}: ${details.map(({ path, problem }) => `${path || 'args'} ${problem}`).join('; ')}`,
  executed: 'no' as const,
});

const DID = {
  yes: 'allowed',
  always: 'allowed',
  no: 'denied',
  answer: 'answered',
  cancel: 'cancelled',
} as const;

/** The one who decided on the call, or cancelled it. */
function firstDecision({ card, error }: Call) {
  const { approval_decision: first, cancelled_by: by } = card;
  if (error?.code === 'cancelled' && by !== undefined) return { by, decision: 'cancel' as const };
  return first ? { by: first.by, decision: first.decision } : undefined;
}

/** The first decision counts, and the one who comes second sees whose it was. */
function decidedBefore(call: Call): string {
  const first = firstDecision(call);
  return first ? `; ${first.by} ${DID[first.decision]} it before` : '';
}
