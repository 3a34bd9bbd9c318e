import { toAsk } from '../approval/waiting-approvals.ts';
import type { CallError } from '../protocol/call-status.ts';
import { isOfClient } from '../protocol/tool-source.ts';
import type {
  AtDevice,
  AwaitingApproval,
  Cancelling,
  Drafting,
  Granted,
  Offered,
  Waiting,
} from './call.ts';
import { isRerunnable } from './call.ts';
import type {
  Answerer,
  CallState,
  Refusal,
  Rejected,
  StateEvent,
  StateOf,
  Step,
} from './call-state.ts';

export type Transition = ({ readonly ok: true } & Step) | Rejected;

/**
 * The life of a call (contract, section 2; rules CS in SPEC.md): which event
 * may move it where. Pure: no time, no sockets, no storage. What it answers is
 * the only way in which a call's status or phase changes.
 */
export function transition(state: CallState, event: StateEvent): Transition {
  switch (state.phase) {
    case 'streaming':
      return streaming(state, event);
    case 'held':
      return held(state, event);
    case 'approval':
      return approval(state, event);
    case 'queued':
      return queued(state, event);
    case 'offered':
      return offered(state, event);
    case 'granted':
      return granted(state, event);
    case 'device':
      return device(state, event);
    case 'cancelling':
      return cancelling(state, event);
    case null:
      // guard: final-stays-final
      return refuse('already_final'); // CS1
  }
}

type Of<Type extends StateEvent['type']> = Extract<StateEvent, { type: Type }>;
/** A call in any phase. */
type Facts = Pick<CallState, 'source' | 'provider' | 'granted' | 'annotations'>;
/** No executor has it; one has it. */
type Unplaced = StateOf<Drafting | AwaitingApproval | Waiting>;
type Placed = StateOf<Offered | Granted | AtDevice | Cancelling>;

/** A model is still writing its arguments. */
function streaming(state: StateOf<Drafting>, event: StateEvent): Transition {
  return event.type === 'arguments_complete' ? complete(state, event) : untaken(state, event);
}

/** It waits for its turn to be shown to a person. */
function held(state: StateOf<AwaitingApproval>, event: StateEvent): Transition {
  return event.type === 'turn_came' ? pending('approval') : untaken(state, event);
}

/** It waits for a person's yes. */
function approval(state: StateOf<AwaitingApproval>, event: StateEvent): Transition {
  switch (event.type) {
    case 'approved':
      return pending('queued');
    case 'denied':
      return finish(state, { code: 'denied', message: event.message, executed: 'no' });
    case 'clock':
      return event.clock === 'approval' ? approvalExpired(state, event) : NOT_NOW;
    default:
      return untaken(state, event);
  }
}

/** It waits for an executor. */
function queued(state: StateOf<Waiting>, event: StateEvent): Transition {
  switch (event.type) {
    case 'asked_again':
      return pending('approval');
    case 'offered':
      return offer(state, event);
    case 'started_here':
      return startHere(state);
    case 'clock':
      return event.clock === 'queue' ? notTakenInTime(state, event) : NOT_NOW;
    default:
      return untaken(state, event);
  }
}

/** A client has been asked. One that does not claim may run it already. */
function offered(state: StateOf<Offered>, event: StateEvent): Transition {
  switch (event.type) {
    case 'refused':
      return state.granted ? NOT_NOW : refused(state, event);
    case 'claimed':
      return claimed(state, event);
    case 'clock':
      if (event.clock === 'queue' && !state.granted) return notTakenInTime(state, event);
      // Offered again, it has what is left of the time in which it may run.
      return event.clock === 'execute' && (state.granted || isRepeated(state))
        ? timeout(state, event, 'No answer')
        : taken(state, event);
    default:
      return taken(state, event);
  }
}

/** Its executor may run it. */
function granted(state: StateOf<Granted>, event: StateEvent): Transition {
  if (event.type === 'started_here') return isRerunnable(state) ? startHere(state) : NOT_NOW;
  return event.type === 'clock' && event.clock === 'execute'
    ? timeout(state, event, 'No answer')
    : taken(state, event);
}

/** The person at the client is being asked; its execute clock stands. */
function device(state: StateOf<AtDevice>, event: StateEvent): Transition {
  return event.type === 'clock' && event.clock === 'approval'
    ? timeout(state, event, 'The person at the client did not answer')
    : taken(state, event);
}

/** Its executor is asked to stop it. An answer that wins the race stands. */
function cancelling(state: StateOf<Cancelling>, event: StateEvent): Transition {
  switch (event.type) {
    case 'offered':
    case 'cancelled':
      return refuse('cancelling');
    case 'claimed':
      return refuse(mayClaim(state, event) ?? 'cancelling');
    case 'device':
      return refuse(mismatch(state, event.from) ?? 'cancelling');
    case 'clock':
      return event.clock === 'cancel' ? notStoppedInTime(state, event) : taken(state, event);
    default:
      return taken(state, event);
  }
}

/** A call takes these events in each phase in which no executor has it. */
function untaken(state: Unplaced, event: StateEvent): Transition {
  switch (event.type) {
    case 'refused':
      return refused(state, event);
    case 'cancelled':
      return cancelled(state, event);
    case 'answered_by_hand':
      return finish(state, null);
    case 'interrupted':
      return interrupted(state, event);
    case 'claimed':
    case 'device':
    case 'answered':
      return refuse('not_your_call');
    default:
      return NOT_NOW;
  }
}

/** A call takes these events in each phase in which an executor has it. */
function taken(state: Placed, event: StateEvent): Transition {
  switch (event.type) {
    case 'offered':
      return offerAgain(state, event);
    case 'claimed':
      return refuse(mayClaim(state, event) ?? claimedAgain(state)); // CS7
    case 'device':
      return atDevice(state, event);
    case 'answered':
      return answered(state, event);
    case 'finished_here':
      return isOfClient(state) ? NOT_NOW : finish(state, event.error);
    case 'answered_by_hand':
      return finish(state, null);
    case 'cancelled':
      return cancelled(state, event);
    case 'clock':
      return event.clock === 'resume' ? notBackInTime(state, event) : NOT_NOW;
    case 'instance_back':
      return instanceBack(state, event);
    case 'outcome_lost':
      return outcomeLost(state, event);
    case 'interrupted':
      return interrupted(state, event);
    default:
      return NOT_NOW;
  }
}

function complete(state: CallState, { check, waiting }: Of<'arguments_complete'>): Transition {
  if (check === 'allow') return pending('queued');
  const next = waiting ? toAsk(waiting) : 'approval';
  return typeof next === 'string' ? pending(next) : finish(state, next);
}

/** A call that no executor has begun may still end as one that cannot be run. */
const refused = (state: Facts, { error }: Of<'refused'>): Transition =>
  finish(state, mayHaveRun(state) ? { ...error, executed: 'unknown' } : error);

/**
 * CS3: a call that may have started is offered again only where that does no
 * harm, by the word of the client that had it and of the one that would get it.
 */
export function mayBeOffered(
  state: Omit<Facts, 'source'>,
  { rerunnable, neverStarted }: Pick<Of<'offered'>, 'rerunnable' | 'neverStarted'>,
): boolean {
  const isProven =
    neverStarted !== undefined &&
    neverStarted.instanceId === state.provider?.instanceId &&
    neverStarted.attempt === state.provider.attempt;
  const hasStarted = mayHaveRun({ ...state, granted: state.granted && !isProven });
  // guard: started-not-offered-again
  return !hasStarted || (isRerunnable(state) && rerunnable);
}

function offer(state: CallState, { provider }: Of<'offered'>): Transition {
  if (!isOfClient(state)) return NOT_NOW;
  if (provider.attempt <= (state.provider?.attempt ?? 0)) return refuse('stale_attempt');
  return { ok: true, status: 'RUNNING', phase: 'offered', provider, granted: !provider.claims };
}

const offerAgain = (state: Placed, event: Of<'offered'>): Transition =>
  isOfClient(state) && !mayBeOffered(state, event)
    ? refuse('already_granted')
    : offer(state, event);

const startHere = (state: CallState): Transition =>
  isOfClient(state) ? NOT_NOW : running('granted', state);

function claimed(state: StateOf<Offered>, event: Of<'claimed'>): Transition {
  const refusal = mayClaim(state, event);
  if (refusal || !state.provider?.claims) return refuse(refusal ?? 'already_granted');
  return running('granted', state);
}

const claimedAgain = ({ provider }: Facts): Refusal =>
  provider?.claims ? 'granted_before' : 'already_granted';

function mayClaim(state: Facts, { from, isGivenUp }: Of<'claimed'>): Refusal | null {
  // It would start what the next offer starts, too (CB8).
  // guard: given-up-attempt-refused
  if (isGivenUp) return 'stale_attempt';
  return mismatch(state, from);
}

function atDevice(state: Placed, { asking, from }: Of<'device'>): Transition {
  const refusal = mayAnswer(state, from);
  if (refusal) return refuse(refusal);
  const { provider, phase } = state;
  if (!provider || asking === (phase === 'device')) return NOT_NOW;
  return asking
    ? { ok: true, status: 'RUNNING', phase: 'device', granted: true, provider }
    : running('granted', state);
}

function answered(state: Facts, { from, error }: Of<'answered'>): Transition {
  const refusal = mayAnswer(state, from);
  return refusal ? refuse(refusal) : finish(state, error);
}

/** CS4: only the instance and attempt that was asked, and only once it was granted. */
function mayAnswer(state: Facts, from: Answerer): Refusal | null {
  const refusal = mismatch(state, from);
  if (refusal) return refusal;
  // guard: only-after-its-grant
  return state.granted ? null : 'not_granted';
}

/** Says so when the call was not given to the one who speaks of it. */
export function mismatch({ provider }: Pick<Facts, 'provider'>, from: Answerer): Refusal | null {
  // guard: only-its-client-answers
  if (!provider || provider.clientId !== from.clientId) return 'not_your_call';
  // guard: only-its-instance-answers
  if (provider.instanceId !== from.instanceId) return 'not_your_call';
  // guard: only-its-attempt-answers
  if (from.attempt !== undefined && from.attempt !== provider.attempt) return 'stale_attempt';
  return null;
}

function instanceBack(state: Placed, { instanceId }: Of<'instance_back'>): Transition {
  if (!state.provider) return NOT_NOW;
  const provider = { ...state.provider, instanceId };
  switch (state.phase) {
    case 'offered':
      return { ok: true, status: 'RUNNING', phase: 'offered', granted: state.granted, provider };
    case 'device':
      return { ok: true, status: 'RUNNING', phase: 'device', granted: true, provider };
    default:
      return running(state.phase, { ...state, provider });
  }
}

const outcomeLost = (state: Facts, { message }: Of<'outcome_lost'>): Transition =>
  finish(state, { code: 'outcome_unknown', reason: 'client_back', message, executed: 'unknown' });

const interrupted = (state: Facts, { message, isUncertain }: Of<'interrupted'>): Transition =>
  finish(state, {
    code: 'interrupted',
    message,
    executed: isUncertain ? 'unknown' : executedOf(state),
  });

/** CS5: what nobody has started ends at once; what may run is asked to stop first. */
function cancelled(state: Facts, { reason, isUnsent }: Of<'cancelled'>): Transition {
  if (state.granted && !isUnsent) return running('cancelling', state);
  const unstarted = { ...state, granted: false };
  const executed = executedOf(unstarted);
  return finish(unstarted, { code: 'cancelled', message: reason, executed });
}

// CS6: which ending each clock brings. That of `start` is none: the call is offered again.

const approvalExpired = (state: Facts, { limitMs }: Of<'clock'>): Transition =>
  finish(state, {
    code: 'approval_expired',
    message: `No person answered within ${seconds(limitMs)}; the call was not run`,
    executed: 'no',
    params: { seconds: String(limitMs / 1_000) },
  });

function notTakenInTime(state: Facts, event: Of<'clock'>): Transition {
  const untaken = isOfClient(state) ? 'No client took the call' : 'The tool was not there';
  return timeout(state, event, untaken);
}

const notStoppedInTime = (state: Facts, { limitMs }: Of<'clock'>): Transition =>
  finish(state, {
    code: 'cancelled',
    message: `Cancelled; its executor did not confirm within ${seconds(limitMs)}`,
    executed: 'unknown',
  });

const notBackInTime = (state: Facts, { limitMs, isRevoked }: Of<'clock'>): Transition =>
  finish(state, {
    code: state.granted && !isRerunnable(state) ? 'outcome_unknown' : 'client_disconnected',
    reason: isRevoked ? 'client_revoked' : 'client_left',
    message: isRevoked
      ? 'The client was revoked while it had the call'
      : `The client left and did not come back within ${seconds(limitMs)}`,
    executed: executedOf(state),
  });

function timeout(state: Facts, { clock, limitMs }: Of<'clock'>, what: string): Transition {
  const message = `${what} within ${seconds(limitMs)}`;
  const error: CallError = { code: 'timeout', message, executed: executedOf(state), clock };
  return { ok: true, status: 'TIMEOUT', phase: null, granted: state.granted, error };
}

const isRepeated = ({ provider }: Pick<Facts, 'provider'>): boolean =>
  provider !== undefined && provider.attempt > 1;

/** CS8: what is rerunnable may have run in an attempt before the one that waits now. */
const mayHaveRun = (state: Omit<Facts, 'source'>): boolean =>
  state.granted || (isRerunnable(state) && isRepeated(state));

const executedOf = (state: Facts): CallError['executed'] => (mayHaveRun(state) ? 'unknown' : 'no');

const pending = (phase: (AwaitingApproval | Waiting)['phase']): Transition => ({
  ok: true,
  status: 'PENDING',
  phase,
  granted: false,
});

const running = (phase: (Granted | Cancelling)['phase'], { provider }: Facts): Transition => ({
  ok: true,
  status: 'RUNNING',
  phase,
  granted: true,
  ...(provider && { provider }),
});

const finish = ({ granted }: Facts, error: CallError | null): Transition =>
  error
    ? { ok: true, status: 'FAILED', phase: null, granted, error }
    : { ok: true, status: 'SUCCEEDED', phase: null, granted };

const refuse = (refusal: Refusal): Transition => ({ ok: false, refusal });

const NOT_NOW = refuse('not_possible_now');

const seconds = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`;
