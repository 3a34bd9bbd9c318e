import type { WaitingApprovals } from '../approval/waiting-approvals.ts';
import type { CallClock, CallError } from '../protocol/call-status.ts';
import type {
  AtDevice,
  AwaitingApproval,
  Call,
  Cancelling,
  Failed,
  Granted,
  Offered,
  Provider,
  Succeeded,
  Waiting,
} from './call.ts';

/** The transitions of a call depend on these fields. */
export type StateOf<One> = One extends Call
  ? Pick<One, 'status' | 'phase' | 'source' | 'provider' | 'granted' | 'annotations'>
  : never;

export type CallState = StateOf<Call>;

/** Where a call goes, with what its new phase has beside its clocks. */
export type Step =
  | Pick<AwaitingApproval, 'status' | 'phase' | 'granted'>
  | Pick<Waiting, 'status' | 'phase' | 'granted'>
  | Pick<Offered, 'status' | 'phase' | 'granted' | 'provider'>
  | Pick<AtDevice, 'status' | 'phase' | 'granted' | 'provider'>
  | Pick<Granted, 'status' | 'phase' | 'granted' | 'provider'>
  | Pick<Cancelling, 'status' | 'phase' | 'granted' | 'provider'>
  | Pick<Succeeded, 'status' | 'phase' | 'granted' | 'error'>
  | Pick<Failed, 'status' | 'phase' | 'granted' | 'error'>;

export type StateEvent =
  | {
      readonly type: 'arguments_complete';
      readonly check: 'allow' | 'ask';
      /** It says what waits besides, with `ask`. */
      readonly waiting?: WaitingApprovals;
    }
  | { readonly type: 'refused'; readonly error: CallError }
  /** Fewer questions wait now: a person is shown this one. */
  | { readonly type: 'turn_came' }
  | { readonly type: 'approved' }
  /** A person decides anew, as what was approved has changed, or its client has left. */
  | { readonly type: 'asked_again' }
  | { readonly type: 'denied'; readonly message: string }
  | {
      readonly type: 'offered';
      readonly provider: Provider;
      /** This provider says so of the tool; the state has what the one before it said. */
      readonly rerunnable: boolean;
      readonly neverStarted?: NeverStarted | undefined;
    }
  | { readonly type: 'started_here' }
  | {
      readonly type: 'claimed';
      readonly from: Answerer;
      /** Its instance came back, and is to get the call under a newer attempt. */
      readonly isGivenUp?: boolean;
    }
  | { readonly type: 'device'; readonly asking: boolean; readonly from: Answerer }
  | { readonly type: 'answered'; readonly from: Answerer; readonly error: CallError | null }
  | { readonly type: 'finished_here'; readonly error: CallError | null }
  | { readonly type: 'answered_by_hand' }
  | {
      readonly type: 'cancelled';
      readonly reason: string;
      /** The grant was decided, but has not left: it need not leave any more. */
      readonly isUnsent?: boolean | undefined;
    }
  | {
      readonly type: 'clock';
      readonly clock: CallClock;
      readonly limitMs: number;
      readonly isRevoked?: boolean | undefined;
    }
  | { readonly type: 'instance_back'; readonly instanceId: string }
  | { readonly type: 'outcome_lost'; readonly message: string }
  /** `isUncertain`: what is known of it may not be all. */
  | { readonly type: 'interrupted'; readonly message: string; readonly isUncertain?: boolean };

/** The attempt that its client's journal proves was never started. It proves nothing of any other. */
export type NeverStarted = Pick<Provider, 'instanceId' | 'attempt'>;

/** A client that says something about a call. `attempt` is missing from clients of the plain protocol. */
export interface Answerer {
  readonly clientId: string;
  readonly instanceId: string;
  readonly attempt: number | undefined;
}

export type Refusal =
  | 'already_final'
  | 'not_your_call'
  | 'stale_attempt'
  | 'not_granted'
  | 'already_granted'
  /** The claiming client has the grant: it may be sent again. */
  | 'granted_before'
  | 'cancelling'
  /** An answer after the end that is the one that ended it, or another. */
  | 'duplicate'
  | 'other_answer'
  /** One that is kept already, or that another is kept in place of. */
  | 'late'
  | 'other_late_answer'
  /** A yes where an answer is asked for, and an answer that does not fit. */
  | 'unanswered'
  | 'wrong_answer'
  /** A yes to what must not be always allowed, has changed, is more than was shown, or is denied. */
  | 'never_always'
  | 'changed_since'
  | 'more_than_shown'
  | 'denied'
  | 'unbound'
  | 'not_possible_now';

export interface Rejected extends Objection {
  readonly ok: false;
}

export interface Objection {
  readonly refusal: Refusal;
  /** It says what is wrong, where the refusal alone does not. */
  readonly problem?: string;
}
