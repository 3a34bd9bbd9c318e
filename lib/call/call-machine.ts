import type { CallClock, CallError, CallPhase, CallStatus } from '../protocol/call-status.ts';
import { isFinalStatus } from '../protocol/is-final-status.ts';
import { isOfClient } from '../protocol/tool-source.ts';
import { toAsk, type WaitingApprovals } from './waiting-approvals.ts';

/** The one client instance and attempt that may answer a call. */
export interface ProviderRef {
  readonly clientId: string;
  readonly instanceId: string;
  readonly attempt: number;
  /** It runs nothing before it is granted. */
  readonly claims: boolean;
}

/** As much of a call as its transitions depend on. */
export interface CallState {
  readonly status: CallStatus;
  readonly phase: CallPhase | null;
  readonly source: string;
  readonly provider: ProviderRef | null;
  /** An executor may have started: a claim was granted, or an offer went to one that does not claim. */
  readonly granted: boolean;
  /** Read-only or idempotent: running it again does no harm. */
  readonly rerunnable: boolean;
}

export type StateEvent =
  | {
      readonly type: 'arguments_complete';
      readonly check: 'allow' | 'ask';
      /** With `ask`: what waits besides. */
      readonly waiting?: WaitingApprovals;
    }
  | { readonly type: 'refused'; readonly error: CallError }
  /** Fewer questions wait now: a person is shown this one. */
  | { readonly type: 'turn_came' }
  | { readonly type: 'approved' }
  /** What was approved has changed, or its client has left: a person decides anew. */
  | { readonly type: 'asked_again' }
  | { readonly type: 'denied'; readonly message: string }
  | {
      readonly type: 'offered';
      readonly provider: ProviderRef;
      /** What this provider says of the tool; the state has what the one before it said. */
      readonly rerunnable: boolean;
      readonly neverStarted?: NeverStarted | undefined;
    }
  | { readonly type: 'started_here' }
  | { readonly type: 'claimed'; readonly from: Answerer }
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
  | { readonly type: 'interrupted'; readonly message: string };

/** The attempt that its client's journal proves was never started. It proves nothing of any other. */
export type NeverStarted = Pick<ProviderRef, 'instanceId' | 'attempt'>;

/** Who says something about a call. `attempt` is missing from clients of the plain protocol. */
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
  | 'cancelling'
  | 'not_possible_now';

export type Transition =
  | {
      readonly ok: true;
      readonly status: CallStatus;
      readonly phase: CallPhase | null;
      readonly granted: boolean;
      readonly provider: ProviderRef | null;
      readonly error: CallError | null;
    }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * The life of a call (contract, section 2; rules CS in SPEC.md): which event
 * may move it where. Pure: no time, no sockets, no storage. What it answers is
 * the only way in which a call's status or phase changes.
 */
export function transition(state: CallState, event: StateEvent): Transition {
  // guard: final-stays-final
  if (isFinalStatus(state.status)) return refuse('already_final'); // CS1
  switch (event.type) {
    case 'arguments_complete':
      if (state.phase !== 'streaming') return refuse('not_possible_now');
      return event.check === 'ask' ? asked(state, event.waiting) : move(state, 'PENDING', 'queued');
    case 'refused':
      return refused(state, event.error);
    case 'turn_came':
      return goOn(state, 'held', 'approval');
    case 'approved':
      return goOn(state, 'approval', 'queued');
    case 'asked_again':
      return state.status === 'PENDING' && state.phase === 'queued'
        ? move(state, 'PENDING', 'approval')
        : refuse('not_possible_now');
    case 'denied':
      if (state.phase !== 'approval') return refuse('not_possible_now');
      return fail(state, { code: 'denied', message: event.message, executed: 'no' });
    case 'offered':
      return offered(state, event);
    case 'started_here':
      if (isOfClient(state)) return refuse('not_possible_now');
      if (state.phase !== 'queued' && !state.rerunnable) return refuse('not_possible_now');
      return { ...move(state, 'RUNNING', 'granted'), granted: true };
    case 'claimed':
      return claimed(state, event.from);
    case 'device':
      return device(state, event.asking, event.from);
    case 'answered':
      return answered(state, event.from, event.error);
    case 'finished_here':
      return !isOfClient(state) && state.status === 'RUNNING'
        ? finish(state, event.error)
        : refuse('not_possible_now');
    case 'answered_by_hand':
      return finish(state, null);
    case 'cancelled':
      return cancelled(event.isUnsent ? { ...state, granted: false } : state, event.reason);
    case 'clock':
      return ranOut(state, event);
    case 'instance_back':
      return instanceBack(state, event.instanceId);
    case 'outcome_lost':
      return fail(state, {
        code: 'outcome_unknown',
        reason: 'client_back',
        message: event.message,
        executed: 'unknown',
      });
    case 'interrupted':
      return fail(state, {
        code: 'interrupted',
        message: event.message,
        executed: mayHaveRun(state) ? 'unknown' : 'no',
      });
  }
}

const goOn = (state: CallState, from: CallPhase, to: CallPhase): Transition =>
  state.phase === from ? move(state, 'PENDING', to) : refuse('not_possible_now');

function asked(state: CallState, waiting: WaitingApprovals | undefined): Transition {
  const next = waiting ? toAsk(waiting) : 'approval';
  return typeof next === 'string' ? move(state, 'PENDING', next) : fail(state, next);
}

function answered(state: CallState, from: Answerer, error: CallError | null): Transition {
  const refusal = mayAnswer(state, from);
  return refusal ? refuse(refusal) : finish(state, error);
}

function instanceBack(state: CallState, instanceId: string): Transition {
  if (!state.provider) return refuse('not_possible_now');
  const provider = { ...state.provider, instanceId };
  return { ...move(state, state.status, state.phase), provider };
}

/** What no executor has begun may still end as one that cannot be run. */
function refused(state: CallState, error: CallError): Transition {
  const isUntaken = state.status === 'PENDING' || (state.phase === 'offered' && !state.granted);
  if (!isUntaken) return refuse('not_possible_now');
  return fail(state, mayHaveRun(state) ? { ...error, executed: 'unknown' } : error);
}

/**
 * CS3: a call that may have started is offered again only where that does no
 * harm, by the word of the client that had it and of the one that would get it.
 */
export function mayBeOffered(
  state: Pick<CallState, 'granted' | 'rerunnable' | 'provider'>,
  { rerunnable, neverStarted }: Pick<OfferedEvent, 'rerunnable' | 'neverStarted'>,
): boolean {
  const isProven =
    neverStarted !== undefined &&
    neverStarted.instanceId === state.provider?.instanceId &&
    neverStarted.attempt === state.provider.attempt;
  const hasStarted = mayHaveRun({ ...state, granted: state.granted && !isProven });
  // guard: started-not-offered-again
  return !hasStarted || (state.rerunnable && rerunnable);
}

type OfferedEvent = Extract<StateEvent, { type: 'offered' }>;

function offered(state: CallState, event: OfferedEvent): Transition {
  const { provider } = event;
  if (!isOfClient(state)) return refuse('not_possible_now');
  const first = state.phase === 'queued';
  const again = state.phase === 'offered' || state.phase === 'granted' || state.phase === 'device';
  if (!first && !again)
    return refuse(state.phase === 'cancelling' ? 'cancelling' : 'not_possible_now');
  if (again && !mayBeOffered(state, event)) return refuse('already_granted');
  if (provider.attempt <= (state.provider?.attempt ?? 0)) return refuse('stale_attempt');
  return { ...move(state, 'RUNNING', 'offered'), provider, granted: !provider.claims };
}

function claimed(state: CallState, from: Answerer): Transition {
  const mismatch = identify(state, from);
  if (mismatch) return refuse(mismatch);
  if (state.phase === 'cancelling') return refuse('cancelling');
  if (state.phase !== 'offered' || !state.provider?.claims) return refuse('already_granted');
  return { ...move(state, 'RUNNING', 'granted'), granted: true };
}

function device(state: CallState, asking: boolean, from: Answerer): Transition {
  const mismatch = identify(state, from);
  if (mismatch) return refuse(mismatch);
  if (!state.granted) return refuse('not_granted');
  if (state.phase === 'cancelling') return refuse('cancelling');
  return move(state, 'RUNNING', asking ? 'device' : 'granted');
}

/** CS4: only the instance and attempt that was asked, and only once it was granted. */
function mayAnswer(state: CallState, from: Answerer): Refusal | null {
  const mismatch = identify(state, from);
  if (mismatch) return mismatch;
  // guard: only-after-its-grant
  return state.granted ? null : 'not_granted';
}

function identify(state: CallState, from: Answerer): Refusal | null {
  const { provider } = state;
  // guard: only-its-client-answers
  if (!provider || provider.clientId !== from.clientId) return 'not_your_call';
  // guard: only-its-instance-answers
  if (provider.instanceId !== from.instanceId) return 'not_your_call';
  // guard: only-its-attempt-answers
  if (from.attempt !== undefined && from.attempt !== provider.attempt) return 'stale_attempt';
  return null;
}

/** CS5: what nobody has started ends at once; what may run is asked to stop first. */
function cancelled(state: CallState, reason: string): Transition {
  if (state.phase === 'cancelling') return refuse('cancelling');
  if (!state.granted) {
    const executed = mayHaveRun(state) ? 'unknown' : 'no';
    return fail(state, { code: 'cancelled', message: reason, executed });
  }
  return move(state, 'RUNNING', 'cancelling');
}

/** CS6: which ending each clock brings. */
function ranOut(
  state: CallState,
  { clock, limitMs, isRevoked }: Extract<StateEvent, { type: 'clock' }>,
): Transition {
  const executed = mayHaveRun(state) ? 'unknown' : 'no';
  switch (clock) {
    case 'approval':
      if (state.phase === 'device') {
        const waited = `The person at the client did not answer within ${seconds(limitMs)}`;
        return timeout(state, clock, waited, executed);
      }
      if (state.phase !== 'approval') return refuse('not_possible_now');
      return fail(state, {
        code: 'approval_expired',
        message: `No person answered within ${seconds(limitMs)}; the call was not run`,
        executed: 'no',
        params: { seconds: String(limitMs / 1_000) },
      });
    case 'queue':
      if (state.granted || (state.phase !== 'queued' && state.phase !== 'offered'))
        return refuse('not_possible_now');
      return timeout(state, clock, `${untaken(state)} within ${seconds(limitMs)}`, executed);
    case 'execute':
      // Offered again, it has what is left of the time in which it may run.
      if (!mayRunNow(state) && !isOfferedAgain(state)) return refuse('not_possible_now');
      return timeout(state, clock, `No answer within ${seconds(limitMs)}`, executed);
    case 'cancel':
      if (state.phase !== 'cancelling') return refuse('not_possible_now');
      return fail(state, {
        code: 'cancelled',
        message: `Cancelled; its executor did not confirm within ${seconds(limitMs)}`,
        executed: 'unknown',
      });
    case 'resume':
      if (state.status !== 'RUNNING') return refuse('not_possible_now');
      return fail(state, {
        code: state.granted && !state.rerunnable ? 'outcome_unknown' : 'client_disconnected',
        reason: isRevoked ? 'client_revoked' : 'client_left',
        message: isRevoked
          ? 'The client was revoked while it had the call'
          : `The client left and did not come back within ${seconds(limitMs)}`,
        executed,
      });
    case 'start':
      // Not an ending: the dispatcher offers it again (CS3), the queue clock bounds it.
      return refuse('not_possible_now');
  }
}

const untaken = (state: CallState): string =>
  isOfClient(state) ? 'No client took the call' : 'The tool was not there';

/** Its execute clock stands while the person at the device is asked, and once it is to stop. */
const mayRunNow = ({ granted, phase }: CallState): boolean =>
  granted && (phase === 'granted' || phase === 'offered');

const isOfferedAgain = ({ phase, provider }: CallState): boolean =>
  phase === 'offered' && provider !== null && provider.attempt > 1;

/** CS8: what is rerunnable may have run in an attempt before the one that waits now. */
const mayHaveRun = ({
  granted,
  rerunnable,
  provider,
}: Pick<CallState, 'granted' | 'rerunnable' | 'provider'>): boolean =>
  granted || (rerunnable && provider !== null && provider.attempt > 1);

function timeout(
  state: CallState,
  clock: CallClock,
  message: string,
  executed: CallError['executed'],
): Transition {
  const error: CallError = { code: 'timeout', message, executed, clock };
  return { ...move(state, 'TIMEOUT', null), error };
}

function finish(state: CallState, error: CallError | null): Transition {
  return error ? fail(state, error) : move(state, 'SUCCEEDED', null);
}

const fail = (state: CallState, error: CallError): Transition => ({
  ...move(state, 'FAILED', null),
  error,
});

const move = (state: CallState, status: CallStatus, phase: CallPhase | null) => ({
  ok: true as const,
  status,
  phase,
  granted: state.granted,
  provider: state.provider,
  error: null,
});

const refuse = (refusal: Refusal): Transition => ({ ok: false, refusal });

const seconds = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`;
