import type { CallError, CallPhase, CallStatus } from '../protocol/call-status.ts';
import { isOfClient } from '../protocol/tool-source.ts';
import type { Call } from './call.ts';
import { isRerunnable } from './call-facts.ts';
import type { Answerer, CallState, Refusal, Rejected, StateEvent } from './call-state.ts';
import { toAsk } from './waiting-approvals.ts';

export type Transition =
  | ({ readonly ok: true } & Pick<Call, 'status' | 'phase' | 'granted' | 'provider' | 'error'>)
  | Rejected;

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

/** A model is still writing its arguments. */
function streaming(state: CallState, event: StateEvent): Transition {
  return event.type === 'arguments_complete' ? complete(state, event) : untaken(state, event);
}

/** It waits for its turn to be shown to a person. */
function held(state: CallState, event: StateEvent): Transition {
  return event.type === 'turn_came' ? move(state, 'PENDING', 'approval') : untaken(state, event);
}

/** It waits for a person's yes. */
function approval(state: CallState, event: StateEvent): Transition {
  switch (event.type) {
    case 'approved':
      return move(state, 'PENDING', 'queued');
    case 'denied':
      return fail(state, { code: 'denied', message: event.message, executed: 'no' });
    case 'clock':
      return event.clock === 'approval' ? approvalExpired(state, event) : NOT_NOW;
    default:
      return untaken(state, event);
  }
}

/** It waits for an executor. */
function queued(state: CallState, event: StateEvent): Transition {
  switch (event.type) {
    case 'asked_again':
      return move(state, 'PENDING', 'approval');
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
function offered(state: CallState, event: StateEvent): Transition {
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
function granted(state: CallState, event: StateEvent): Transition {
  if (event.type === 'started_here') return isRerunnable(state) ? startHere(state) : NOT_NOW;
  return event.type === 'clock' && event.clock === 'execute'
    ? timeout(state, event, 'No answer')
    : taken(state, event);
}

/** The person at the client is being asked; its execute clock stands. */
function device(state: CallState, event: StateEvent): Transition {
  return event.type === 'clock' && event.clock === 'approval'
    ? timeout(state, event, 'The person at the client did not answer')
    : taken(state, event);
}

/** Its executor is asked to stop it. An answer that wins the race stands. */
function cancelling(state: CallState, event: StateEvent): Transition {
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

/** What a call takes in each phase in which no executor has it. */
function untaken(state: CallState, event: StateEvent): Transition {
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

/** What a call takes in each phase in which an executor has it. */
function taken(state: CallState, event: StateEvent): Transition {
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
  if (check === 'allow') return move(state, 'PENDING', 'queued');
  const next = waiting ? toAsk(waiting) : 'approval';
  return typeof next === 'string' ? move(state, 'PENDING', next) : fail(state, next);
}

/** What no executor has begun may still end as one that cannot be run. */
const refused = (state: CallState, { error }: Of<'refused'>): Transition =>
  fail(state, mayHaveRun(state) ? { ...error, executed: 'unknown' } : error);

/**
 * CS3: a call that may have started is offered again only where that does no
 * harm, by the word of the client that had it and of the one that would get it.
 */
export function mayBeOffered(
  state: Pick<CallState, 'granted' | 'annotations' | 'provider'>,
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
  return { ...move(state, 'RUNNING', 'offered'), provider, granted: !provider.claims };
}

const offerAgain = (state: CallState, event: Of<'offered'>): Transition =>
  isOfClient(state) && !mayBeOffered(state, event)
    ? refuse('already_granted')
    : offer(state, event);

const startHere = (state: CallState): Transition =>
  isOfClient(state) ? NOT_NOW : { ...move(state, 'RUNNING', 'granted'), granted: true };

function claimed(state: CallState, event: Of<'claimed'>): Transition {
  const refusal = mayClaim(state, event);
  if (refusal || !state.provider?.claims) return refuse(refusal ?? 'already_granted');
  return { ...move(state, 'RUNNING', 'granted'), granted: true };
}

const claimedAgain = ({ provider }: CallState): Refusal =>
  provider?.claims ? 'granted_before' : 'already_granted';

function mayClaim(state: CallState, { from, isGivenUp }: Of<'claimed'>): Refusal | null {
  // It would start what the next offer starts, too (CB8).
  // guard: given-up-attempt-refused
  if (isGivenUp) return 'stale_attempt';
  return mismatch(state, from);
}

function atDevice(state: CallState, { asking, from }: Of<'device'>): Transition {
  const refusal = mayAnswer(state, from);
  if (refusal) return refuse(refusal);
  if (asking === (state.phase === 'device')) return NOT_NOW;
  return move(state, 'RUNNING', asking ? 'device' : 'granted');
}

function answered(state: CallState, { from, error }: Of<'answered'>): Transition {
  const refusal = mayAnswer(state, from);
  return refusal ? refuse(refusal) : finish(state, error);
}

/** CS4: only the instance and attempt that was asked, and only once it was granted. */
function mayAnswer(state: CallState, from: Answerer): Refusal | null {
  const refusal = mismatch(state, from);
  if (refusal) return refusal;
  // guard: only-after-its-grant
  return state.granted ? null : 'not_granted';
}

/** Whether the call was not given to who speaks of it. */
export function mismatch(
  { provider }: Pick<CallState, 'provider'>,
  from: Answerer,
): Refusal | null {
  // guard: only-its-client-answers
  if (!provider || provider.clientId !== from.clientId) return 'not_your_call';
  // guard: only-its-instance-answers
  if (provider.instanceId !== from.instanceId) return 'not_your_call';
  // guard: only-its-attempt-answers
  if (from.attempt !== undefined && from.attempt !== provider.attempt) return 'stale_attempt';
  return null;
}

function instanceBack(state: CallState, { instanceId }: Of<'instance_back'>): Transition {
  if (!state.provider) return NOT_NOW;
  const provider = { ...state.provider, instanceId };
  return { ...move(state, state.status, state.phase), provider };
}

const outcomeLost = (state: CallState, { message }: Of<'outcome_lost'>): Transition =>
  fail(state, { code: 'outcome_unknown', reason: 'client_back', message, executed: 'unknown' });

const interrupted = (state: CallState, { message }: Of<'interrupted'>): Transition =>
  fail(state, { code: 'interrupted', message, executed: executedOf(state) });

/** CS5: what nobody has started ends at once; what may run is asked to stop first. */
function cancelled(state: CallState, { reason, isUnsent }: Of<'cancelled'>): Transition {
  if (state.granted && !isUnsent) return move(state, 'RUNNING', 'cancelling');
  const unstarted = { ...state, granted: false };
  const executed = executedOf(unstarted);
  return fail(unstarted, { code: 'cancelled', message: reason, executed });
}

// CS6: which ending each clock brings. That of `start` is none: the call is offered again.

const approvalExpired = (state: CallState, { limitMs }: Of<'clock'>): Transition =>
  fail(state, {
    code: 'approval_expired',
    message: `No person answered within ${seconds(limitMs)}; the call was not run`,
    executed: 'no',
    params: { seconds: String(limitMs / 1_000) },
  });

function notTakenInTime(state: CallState, event: Of<'clock'>): Transition {
  const untaken = isOfClient(state) ? 'No client took the call' : 'The tool was not there';
  return timeout(state, event, untaken);
}

const notStoppedInTime = (state: CallState, { limitMs }: Of<'clock'>): Transition =>
  fail(state, {
    code: 'cancelled',
    message: `Cancelled; its executor did not confirm within ${seconds(limitMs)}`,
    executed: 'unknown',
  });

const notBackInTime = (state: CallState, { limitMs, isRevoked }: Of<'clock'>): Transition =>
  fail(state, {
    code: state.granted && !isRerunnable(state) ? 'outcome_unknown' : 'client_disconnected',
    reason: isRevoked ? 'client_revoked' : 'client_left',
    message: isRevoked
      ? 'The client was revoked while it had the call'
      : `The client left and did not come back within ${seconds(limitMs)}`,
    executed: executedOf(state),
  });

function timeout(state: CallState, { clock, limitMs }: Of<'clock'>, what: string): Transition {
  const message = `${what} within ${seconds(limitMs)}`;
  const error: CallError = { code: 'timeout', message, executed: executedOf(state), clock };
  return { ...move(state, 'TIMEOUT', null), error };
}

const isRepeated = ({ provider }: Pick<CallState, 'provider'>): boolean =>
  provider !== null && provider.attempt > 1;

/** CS8: what is rerunnable may have run in an attempt before the one that waits now. */
const mayHaveRun = (state: Pick<CallState, 'granted' | 'annotations' | 'provider'>): boolean =>
  state.granted || (isRerunnable(state) && isRepeated(state));

const executedOf = (state: CallState): CallError['executed'] =>
  mayHaveRun(state) ? 'unknown' : 'no';

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

const NOT_NOW = refuse('not_possible_now');

const seconds = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`;
