import type { CallClock } from '../protocol/call-status.ts';
import type { CardUpdate } from '../protocol/card.ts';
import { isFinalStatus } from '../protocol/is-final-status.ts';
import { CLOCKS, LIMITS } from '../protocol/limits.ts';
import { checkAnswer, questionSchema } from '../protocol/question.ts';
import { isOfClient } from '../protocol/tool-source.ts';
import { given } from '../util/given.ts';
import { againstApproval, isQuestion } from './approval-terms.ts';
import {
  type Call,
  type Deadlines,
  hasJournal,
  isPolling,
  isRerunnable,
  type Offered,
} from './call.ts';
import type { CallEvent } from './call-event.ts';
import { mismatch, transition } from './call-machine.ts';
import type { Rejected, StateEvent } from './call-state.ts';
import {
  awaitingReturn,
  limitOf,
  type Moment,
  NO_DEADLINES,
  timeToAdd,
  withDeadlinesMoved,
  withExecuteRunning,
  withExecuteStopped,
} from './clocks.ts';
import { type Effect, grantBarrier, offerBarrier, startBarrier } from './effects.ts';
import { enter } from './enter.ts';
import { isNews, lateResultOf, mayBeKept } from './late-answer.ts';
import { boundUpdate, mergeCard } from './merge-card.ts';
import { actionOnReturn } from './resume-matrix.ts';
import { describeChange } from './view.ts';

/**
 * `update` is what people are shown, `shown` what of it does not follow from the change of the
 * record; `effects` happen in their order.
 */
export type Decision =
  | {
      readonly ok: true;
      readonly record: Call;
      readonly update: CardUpdate;
      readonly shown: CardUpdate;
      readonly effects: readonly Effect[];
    }
  | Rejected;

/**
 * The only place where the state of a call changes (rules CE in SPEC.md). Pure: the time is
 * given, who could run the call is in the event, and what follows is returned as
 * data. The version is counted by the engine, which appends the event.
 */
export function decide(call: Call, event: CallEvent, now: Moment): Decision {
  switch (event.type) {
    case 'approved':
      return approved(call, event, now);
    case 'answered_by_hand':
      return answeredByHand(call, event, now);
    case 'client_left':
      return clientLeft(call, now);
    case 'client_back':
      return clientBack(call, event, now);
    case 'recovered':
      return recovered(call, event, now);
    case 'extended':
      return extended(call, event, now);
    case 'below_waits':
      return belowWaits(call, event.isWaiting, now);
    case 'status':
    case 'sketch':
      return statusOf(call, event);
    case 'late_answer':
      return lateAnswer(call, event);
    case 'clock':
      return clock(call, event, now);
    default:
      return step(call, event, event, now);
  }
}

type Given = Pick<CallEvent, 'fields' | 'shown'>;
type Of<Type extends CallEvent['type']> = Extract<CallEvent, { type: Type }>;

const NOT_NOW = { ok: false, refusal: 'not_possible_now' } as const;

/** A transition, with the fields that the event brings, the clocks that follow, and the effects. */
function step(call: Call, event: StateEvent, given: Given, now: Moment): Decision {
  const moved = transition(call, event);
  if (!moved.ok) return moved;
  const { ok: _, ...to } = moved;
  const next = enter(call, to, given.fields, now);
  return change(call, next, now, given.shown, effectsOf(event, next));
}

function change(
  call: Call,
  next: Call,
  now: Moment,
  besides: CardUpdate = {},
  effects: readonly Effect[] = [],
): Decision {
  const shown = call.card.partial ? { ...sketchOf(call, next), ...besides } : besides;
  const update = boundUpdate(call.card, { ...describeChange(call, next, now), ...shown });
  const hasNewClocks = next.deadlines !== call.deadlines && next.deadlines !== NO_DEADLINES;
  const record = {
    ...next,
    clockMark: hasNewClocks ? now.steady : next.clockMark,
    card: mergeCard(call.card, update),
  };
  return { ok: true, record, update, shown, effects };
}

/** No event has what was shown while the arguments were written: this keeps what stays on the card. */
function sketchOf({ phase, args, card }: Call, next: Call): CardUpdate {
  if (phase !== 'streaming' || next.phase === 'streaming') return {};
  const { params, params_bytes, truncated, tip } = card;
  if (args === next.args) return { params, ...given({ params_bytes, truncated, tip }) };
  const isCut = typeof params_bytes === 'number';
  return { ...given({ tip }), ...(isCut && { params_bytes: null, truncated: false }) };
}

function effectsOf(event: StateEvent, next: Call): readonly Effect[] {
  switch (event.type) {
    case 'arguments_complete':
    case 'approved':
      return next.phase === 'queued' ? [{ type: 'route' }] : [];
    case 'offered':
      return [{ type: 'request', after: offerBarrier(next) }];
    case 'started_here':
      return [{ type: 'run', after: startBarrier(next) }];
    case 'claimed':
      return [{ type: 'grant', attempt: next.provider?.attempt ?? 0, after: grantBarrier(next) }];
    case 'cancelled':
      return [{ type: 'stop', reason: event.reason, after: 'event' }];
    case 'answered_by_hand':
      return [{ type: 'stop', reason: 'An operator answered in its place', after: 'event' }];
    case 'clock':
      return [{ type: 'stop', reason: stopReason(next, event.clock), after: 'event' }];
    default:
      return [];
  }
}

const stopReason = (call: Call, clock: CallClock): string =>
  isOfClient(call) ? `timeout: ${clock}` : (call.error?.message ?? clock);

function approved(call: Call, event: Of<'approved'>, now: Moment): Decision {
  const { terms } = event;
  const decision = step(call, { type: 'approved' }, event, now);
  const refusal = decision.ok && terms && againstApproval(call, terms, now);
  return refusal ? { ok: false, ...refusal } : decision;
}

/** A question takes an answer that fits it, as long as it is asked. */
function answeredByHand(call: Call, event: Of<'answered_by_hand'>, now: Moment): Decision {
  if (!isQuestion(call)) return step(call, event, event, now);
  if (call.phase !== 'approval') return NOT_NOW;
  const checked = checkAnswer(questionSchema.parse(call.args), event.fields?.result);
  if (!checked.ok) return { ok: false, refusal: 'wrong_answer', problem: checked.problem };
  const result = { answer: checked.answer, answered_by: 'person' };
  return step(call, event, { ...event, fields: { ...event.fields, result } }, now);
}

/** An offer that was not claimed in time is no ending: another is asked, or its clock is armed anew. */
function clock(call: Call, event: Of<'clock'>, now: Moment): Decision {
  const { clock: name, isRevoked, isKept } = event;
  if (name !== 'start') {
    const limitMs = limitOf(call, name);
    return step(call, { type: 'clock', clock: name, limitMs, isRevoked }, event, now);
  }
  if (call.phase !== 'offered' || call.deadlines.start === undefined) return NOT_NOW;
  if (!isKept) {
    const orElse = { ...event, isKept: true };
    return { ok: true, record: call, update: {}, shown: {}, effects: [{ type: 'route', orElse }] };
  }
  const deadlines = { ...call.deadlines, start: now.steady + CLOCKS.startMs };
  return change(call, { ...call, deadlines }, now);
}

/**
 * A call that its client has not taken is offered to another; one that it has waits for its
 * return. A client without a journal is waited for by the execute clock alone,
 * because its first answer still counts until then.
 */
function clientLeft(call: Call, now: Moment): Decision {
  if (call.phase === null || !call.provider) return NOT_NOW;
  const isUntaken = call.phase === 'offered' && !call.granted;
  if (!isUntaken && !hasJournal(call) && !isRerunnable(call)) return NOT_NOW;
  return change(call, awaitingReturn(call, now), now, {}, isUntaken ? [{ type: 'route' }] : []);
}

function clientBack(call: Call, event: Of<'client_back'>, now: Moment): Decision {
  const action = actionOnReturn(call, event.knowledge);
  if (action === 'outcome_unknown') {
    const message = 'The client came back, and can no longer tell whether the tool ran';
    return step(call, { type: 'outcome_lost', message }, event, now);
  }
  const { instanceId, knowledge } = event;
  const back = step(call, { type: 'instance_back', instanceId }, event, now);
  if (!back.ok || action !== 'offer') return back;
  // Only a journal that is intact and holds nothing of the call proves anything.
  const neverStarted = knowledge === 'nothing' ? back.record.provider : undefined;
  return { ...back, effects: [{ type: 'reoffer', neverStarted }] };
}

/** Deadlines are on the steady clock, so the clocks of waiting calls go on. */
function recovered(
  stored: Call,
  { shiftMs, goesOn = false }: Of<'recovered'>,
  now: Moment,
): Decision {
  if (stored.phase === null) return NOT_NOW;
  const moved = onSteadyClock(stored, shiftMs);
  // guard: offered-counts-as-granted
  const call = isPossiblyGranted(moved) ? asGranted(moved) : moved;
  const asMoved = () => (call === stored ? NOT_NOW : change(stored, call, now));
  if (call.phase === 'streaming') {
    const message = 'The server stopped while the model was still writing the arguments';
    return step(call, { type: 'interrupted', message }, {}, now);
  }
  if (isOfClient(call)) {
    const isWaitedFor = call.provider !== undefined;
    if (!isWaitedFor || (!hasJournal(call) && !isRerunnable(call))) return asMoved();
    return change(stored, awaitingReturn(call, now), now);
  }
  if (call.phase === 'queued') return change(stored, call, now, {}, [{ type: 'route' }]);
  if (call.status !== 'RUNNING') return asMoved();
  const message = 'The server stopped while the tool was running';
  const interrupted = { type: 'interrupted', message } as const;
  // Nor is what was to be stopped run again.
  const isTakenUp = goesOn || isRerunnable(call);
  if (!isTakenUp || call.phase === 'cancelling') return step(call, interrupted, {}, now);
  // Run again, it makes its calls anew: none of them waits.
  const running = call.phase === 'granted' ? withExecuteRunning(call, now) : call;
  if (goesOn) return change(stored, running, now, {}, [{ type: 'run', after: 'nothing' }]);
  return change(stored, running, now, {}, [{ type: 'route', orElse: interrupted }]);
}

/** Deadlines of before are wall times; on disk they stay so until they are marked. */
const onSteadyClock = <One extends Call>(call: One, shiftMs: number): One =>
  call.clockMark === null ? withDeadlinesMoved(call, shiftMs) : call;

/** Its grant may have left without being on disk (`grantBarrier`). */
const isPossiblyGranted = (call: Call): call is Offered =>
  call.phase === 'offered' && !call.granted && call.provider.claims && !isPolling(call.provider);

/** It waits for its client alone: the queue's clock ends only what no client can have started. */
function asGranted(call: Offered): Offered {
  const { queue: _, start: __, ...deadlines } = call.deadlines;
  return { ...call, granted: true, deadlines };
}

function extended(call: Call, event: Of<'extended'>, now: Moment): Decision {
  if (call.phase === null) return { ok: false, refusal: 'already_final' };
  const { execute }: Deadlines = call.deadlines;
  const byMs = 'byMs' in event ? event.byMs : timeToAdd(call, event, now);
  if (execute === undefined || byMs === 0) return NOT_NOW;
  const latest = Math.max(execute, now.steady + LIMITS.maxTimeoutMs);
  const deadline = Math.min(execute + Math.max(0, byMs), latest);
  return change(call, withMoreTime(call, deadline - execute), now);
}

function withMoreTime<One extends Call>(call: One, ms: number): One {
  const { execute = 0 }: Deadlines = call.deadlines;
  const timeoutMs = call.timeoutMs + ms;
  const routing = { ...call.routing, hasOwnTimeout: true };
  return { ...call, timeoutMs, routing, deadlines: { ...call.deadlines, execute: execute + ms } };
}

/** CE7: the time in which a person decides on a call below takes nothing from the time to run. */
function belowWaits(call: Call, isWaiting: boolean, now: Moment): Decision {
  if (isOfClient(call) || call.phase !== 'granted') return NOT_NOW;
  const stands = call.deadlines.execute === undefined;
  if (isWaiting === stands) return NOT_NOW;
  const next = isWaiting ? withExecuteStopped(call, now) : withExecuteRunning(call, now);
  return change(call, next, now);
}

/** It changes what people see, and nothing else. */
function statusOf(call: Call, { type, from, shown = {} }: Of<'status' | 'sketch'>): Decision {
  const isOver = type === 'sketch' ? call.phase !== 'streaming' : isFinalStatus(call.status);
  const refusal = isOver ? 'not_possible_now' : from && mismatch(call, from);
  if (refusal) return { ok: false, refusal };
  const update = boundUpdate(call.card, shown);
  const card = mergeCard(call.card, update);
  // Two previews that begin alike and are equally long make the same card.
  if (card === call.card && typeof update.preview_bytes !== 'number') return NOT_NOW;
  const { preview = call.preview } = shown;
  return { ok: true, record: { ...call, card, preview }, update, shown: update, effects: [] };
}

/** It never becomes the result of the call. */
function lateAnswer(call: Call, event: Of<'late_answer'>): Decision {
  if (call.phase !== null) return NOT_NOW;
  const refusal = mayBeKept(call, event);
  if (refusal) return { ok: false, refusal };
  const lateResult = lateResultOf(event);
  const update: CardUpdate = isNews(call, event) ? { late_result: true } : {};
  const card = mergeCard(call.card, update);
  // guard: late-result-kept-beside
  return { ok: true, record: { ...call, lateResult, card }, update, shown: update, effects: [] };
}
