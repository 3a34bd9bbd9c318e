import type { CallClock } from '../protocol/call-status.ts';
import type { CardUpdate } from '../protocol/card.ts';
import { CLOCKS, LIMITS } from '../protocol/limits.ts';
import { type Call, isPolling } from './call.ts';

/**
 * A moment on two clocks, in milliseconds. People are shown times of the wall clock,
 * which may be set. Deadlines are on the steady one, which nobody sets: it runs
 * evenly while there is a server, over restarts too.
 */
export interface Moment {
  readonly wall: number;
  readonly steady: number;
}

export const NO_DEADLINES: Call['deadlines'] = {
  approval: null,
  queue: null,
  start: null,
  execute: null,
  resume: null,
  cancel: null,
};

/** Sets and stops the clocks of the contract, section 2, as the phase changes; `next` is new, and is changed. */
export function withClocks(prev: Call, next: Call, now: Moment): Call {
  if (prev.phase === next.phase && prev.status === next.status && prev.provider === next.provider) {
    return next;
  }
  const isBackFromDevice = prev.phase === 'device' && next.phase !== 'device';
  if (isBackFromDevice) Object.assign(next, { deviceLeftMs: deviceLeft(prev, now) });
  return Object.assign(next, runningClocks(prev, next, now));
}

/** Of the time in which the person at the device may be asked, in sum (CK6). */
function deviceLeft({ phase, deadlines, deviceLeftMs }: Call, { steady }: Moment): number {
  const left = deviceLeftMs ?? CLOCKS.approvalMs;
  return phase === 'device' ? Math.max(0, (deadlines.approval ?? steady) - steady) : left;
}

function runningClocks(prev: Call, next: Call, now: Moment): Partial<Call> {
  const { deadlines } = prev;
  const { wall, steady } = now;
  switch (next.phase) {
    case null:
      return { deadlines: NO_DEADLINES, executeLeftMs: null, completedAt: wall };
    case 'streaming':
      return {};
    case 'held':
      return { deadlines: NO_DEADLINES };
    case 'approval':
      return { deadlines: { ...NO_DEADLINES, approval: steady + approvalMs(next) } };
    case 'queued':
      return {
        queuedAt: wall,
        deadlines: { ...NO_DEADLINES, queue: steady + CLOCKS.queueMs },
      };
    case 'offered':
      return offeredClocks(prev, next, now);
    case 'granted': {
      const left =
        prev.phase === 'device' ? (prev.executeLeftMs ?? next.timeoutMs) : next.timeoutMs;
      return {
        startedAt: prev.startedAt ?? wall,
        executeLeftMs: null,
        deadlines: { ...NO_DEADLINES, execute: deadlines.execute ?? steady + left },
      };
    }
    case 'device':
      // The client came back while its person is being asked: that clock goes on.
      if (prev.phase === 'device') return { deadlines: { ...deadlines, resume: null } };
      return {
        executeLeftMs: Math.max(0, (deadlines.execute ?? steady) - steady),
        deadlines: { ...NO_DEADLINES, approval: steady + deviceLeft(prev, now) },
      };
    case 'cancelling':
      if (prev.phase === 'cancelling') return { deadlines: { ...deadlines, resume: null } };
      return { deadlines: { ...NO_DEADLINES, cancel: steady + CLOCKS.cancelMs } };
  }
}

/** How long a person has to decide, as it was set when the call had to wait for that. */
const approvalMs = ({ routing }: Call): number => routing.approvalMs ?? CLOCKS.approvalMs;

function offeredClocks(prev: Call, next: Call, { wall, steady }: Moment): Partial<Call> {
  const offered = { offeredAt: wall, executeLeftMs: null };
  if (next.provider?.claims) {
    // Possibly granted, and its client is back: only what was not started may wait for a claim, or another.
    const queue = next.granted ? null : (prev.deadlines.queue ?? steady + CLOCKS.queueMs);
    // One that polls takes it when it asks next, and has the queue's time for that.
    const start = next.granted || isPolling(next.provider) ? null : steady + CLOCKS.startMs;
    // Granted before: its time runs on, so that no client holds it open by coming back (CK7).
    const execute = prev.granted ? executeDeadline(prev, steady) : prev.deadlines.execute;
    return { ...offered, deadlines: { ...NO_DEADLINES, queue, start, execute } };
  }
  // A client that does not claim may run it from now on, so its time runs from now on, once.
  const execute = executeDeadline(prev, steady);
  return { ...offered, startedAt: prev.startedAt ?? wall, deadlines: { ...NO_DEADLINES, execute } };
}

const executeDeadline = ({ deadlines, executeLeftMs, timeoutMs }: Call, now: number) =>
  deadlines.execute ?? now + (executeLeftMs ?? timeoutMs);

/** The resume clock runs, never past the clock that ends the call anyway. */
export function awaitingReturn(record: Call, { steady }: Moment): Call {
  const { execute, queue } = record.deadlines;
  const resume = Math.min(steady + CLOCKS.resumeMs, execute ?? Infinity, queue ?? Infinity);
  return { ...record, deadlines: { ...record.deadlines, start: null, resume } };
}

/** The execute clock stands, with what is left of it. */
export function withExecuteStopped(record: Call, { steady }: Moment): Call {
  const { execute } = record.deadlines;
  if (execute === null) return record;
  const executeLeftMs = Math.max(0, execute - steady);
  return { ...record, executeLeftMs, deadlines: { ...record.deadlines, execute: null } };
}

/** It goes on where it stood; one that runs is left as it is. */
export function withExecuteRunning(record: Call, { steady }: Moment): Call {
  if (record.phase !== 'granted' || record.deadlines.execute !== null) return record;
  const execute = steady + (record.executeLeftMs ?? record.timeoutMs);
  return { ...record, executeLeftMs: null, deadlines: { ...record.deadlines, execute } };
}

/**
 * Milliseconds to add to the execute clock of a call whose tool shows that it is at work: its own
 * time begins anew once half of it has passed, so that a flood of signs is few events. 0: none.
 */
export function timeToAdd(
  { deadlines, startedAt }: Call,
  { ownMs, mostMs }: { readonly ownMs: number; readonly mostMs: number },
  { wall, steady }: Moment,
): number {
  const left = (deadlines.execute ?? Number.POSITIVE_INFINITY) - steady;
  const own = Math.min(ownMs, LIMITS.maxTimeoutMs);
  if (startedAt === null || left > own / 2) return 0;
  const more = Math.min(own, startedAt + mostMs - wall) - left;
  return more > Math.min(own / 4, 1_000) ? more : 0;
}

/** Each deadline that runs, `ms` later. */
export const withDeadlinesMoved = (record: Call, ms: number): Call =>
  record.deadlines === NO_DEADLINES
    ? record
    : { ...record, deadlines: movedDeadlines(record.deadlines, ms) };

export function movedDeadlines(
  { approval, queue, start, execute, resume, cancel }: Call['deadlines'],
  ms: number,
): Call['deadlines'] {
  const moved = (deadline: number | null) => (deadline === null ? null : deadline + ms);
  return {
    approval: moved(approval),
    queue: moved(queue),
    start: moved(start),
    execute: moved(execute),
    resume: moved(resume),
    cancel: moved(cancel),
  };
}

/** In milliseconds: what a clock was set to, for the text of its ending. */
export function limitOf(record: Call, which: CallClock): number {
  switch (which) {
    case 'approval':
      return record.phase === 'approval' ? approvalMs(record) : CLOCKS.approvalMs;
    case 'queue':
      return CLOCKS.queueMs;
    case 'start':
      return CLOCKS.startMs;
    case 'execute':
      return record.timeoutMs;
    case 'resume':
      return CLOCKS.resumeMs;
    case 'cancel':
      return CLOCKS.cancelMs;
  }
}

type RunningClock = { name: CallClock; deadline_at: number };

/**
 * The clock that a card shows: the one that ends the phase the call is in, of two the
 * sooner. Its deadline is a wall time, as the wall clock is now.
 */
export function runningClock(record: Call, now: Moment): CardUpdate['clock'] {
  const { deadlines, phase } = record;
  const clock = (name: CallClock, deadline: number | null): RunningClock | null =>
    deadline === null ? null : { name, deadline_at: (deadline + now.wall - now.steady) / 1000 };
  if (deadlines.resume !== null) return clock('resume', deadlines.resume);
  switch (phase) {
    case 'approval':
      return clock('approval', deadlines.approval);
    case 'queued':
      return clock('queue', deadlines.queue);
    case 'offered':
      return record.provider?.claims
        ? sooner(
            clock('execute', deadlines.execute),
            sooner(clock('start', deadlines.start), clock('queue', deadlines.queue)),
          )
        : clock('execute', deadlines.execute);
    case 'granted':
      return record.executeLeftMs === null
        ? clock('execute', deadlines.execute)
        : stoppedClock(record.executeLeftMs);
    case 'device':
      return stoppedClock(record.executeLeftMs ?? 0);
    case 'cancelling':
      return clock('cancel', deadlines.cancel);
    case 'held':
    case 'streaming':
    case null:
      return null;
  }
}

const stoppedClock = (leftMs: number): CardUpdate['clock'] => ({
  name: 'execute',
  deadline_at: null,
  remaining_ms: leftMs,
});

const sooner = (one: RunningClock | null, other: RunningClock | null): RunningClock | null =>
  one && (!other || one.deadline_at < other.deadline_at) ? one : other;

/** The call as it is shown now: the wall clock may have been set since its newest event. */
export function shownAt(call: Call, now: Moment): Call {
  const shown = call.card.clock;
  if (call.phase === null || typeof shown?.deadline_at !== 'number') return call;
  const clock = runningClock(call, now);
  return clock?.deadline_at === shown.deadline_at
    ? call
    : { ...call, card: { ...call.card, clock } };
}
