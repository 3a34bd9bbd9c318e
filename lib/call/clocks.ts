import { type CallClock, callClockSchema } from '../protocol/call-status.ts';
import type { CardUpdate } from '../protocol/card.ts';
import { CLOCKS, LIMITS } from '../protocol/limits.ts';
import type { Call, Deadlines, Granted } from './call.ts';

/**
 * A moment on two clocks, in milliseconds. People are shown times of the wall clock,
 * which may be set. Deadlines are on the steady one, which nobody sets: it runs
 * evenly while there is a server, over restarts too.
 */
export interface Moment {
  readonly wall: number;
  readonly steady: number;
}

export const NO_DEADLINES: Pick<Deadlines, never> = {};

/** How long a person has to decide, as it was set when the call had to wait for that. */
export const approvalMs = ({ routing }: Pick<Call, 'routing'>): number =>
  routing.approvalMs ?? CLOCKS.approvalMs;

/** The resume clock runs, never past the clock that ends the call anyway. */
export function awaitingReturn<One extends Call>(call: One, { steady }: Moment): One {
  const { start: _, ...others }: Deadlines = call.deadlines;
  const { execute = Number.POSITIVE_INFINITY, queue = Number.POSITIVE_INFINITY } = others;
  const resume = Math.min(steady + CLOCKS.resumeMs, execute, queue);
  return { ...call, deadlines: { ...others, resume } };
}

/** The execute clock stands, with what is left of it. */
export function withExecuteStopped(call: Granted, { steady }: Moment): Granted {
  const { execute, ...others } = call.deadlines;
  if (execute === undefined) return call;
  return { ...call, deadlines: { ...others, executeLeftMs: Math.max(0, execute - steady) } };
}

/** It goes on where it stood; one that runs is left as it is. */
export function withExecuteRunning(call: Granted, { steady }: Moment): Granted {
  const { execute, executeLeftMs = call.timeoutMs, ...others } = call.deadlines;
  if (execute !== undefined) return call;
  return { ...call, deadlines: { ...others, execute: steady + executeLeftMs } };
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
  const { execute = Number.POSITIVE_INFINITY }: Deadlines = deadlines;
  const left = execute - steady;
  const own = Math.min(ownMs, LIMITS.maxTimeoutMs);
  if (startedAt === undefined || left > own / 2) return 0;
  const more = Math.min(own, startedAt + mostMs - wall) - left;
  return more > Math.min(own / 4, 1_000) ? more : 0;
}

/** Each deadline that runs, `ms` later. */
export const withDeadlinesMoved = <One extends Call>(call: One, ms: number): One =>
  call.deadlines === NO_DEADLINES
    ? call
    : { ...call, deadlines: { ...call.deadlines, ...movedDeadlines(call.deadlines, ms) } };

/** Null is a clock that does not run, as records of before have it. */
export function movedDeadlines(
  deadlines: { readonly [Clock in CallClock]?: number | null },
  ms: number,
): { readonly [Clock in CallClock]?: number } {
  const moved: { [Clock in CallClock]?: number } = {};
  for (const clock of callClockSchema.options) {
    const at = deadlines[clock];
    if (typeof at === 'number') moved[clock] = at + ms;
  }
  return moved;
}

/** In milliseconds: what a clock was set to, for the text of its ending. */
export function limitOf(call: Call, which: CallClock): number {
  switch (which) {
    case 'approval':
      return call.phase === 'approval' ? approvalMs(call) : CLOCKS.approvalMs;
    case 'queue':
      return CLOCKS.queueMs;
    case 'start':
      return CLOCKS.startMs;
    case 'execute':
      return call.timeoutMs;
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
export function runningClock({ phase, deadlines }: Call, now: Moment): CardUpdate['clock'] {
  const { approval, queue, start, execute, executeLeftMs, resume, cancel }: Deadlines = deadlines;
  const clock = (name: CallClock, deadline: number | undefined): RunningClock | null =>
    deadline === undefined
      ? null
      : { name, deadline_at: (deadline + now.wall - now.steady) / 1000 };
  if (resume !== undefined) return clock('resume', resume);
  switch (phase) {
    case 'approval':
      return clock('approval', approval);
    case 'queued':
      return clock('queue', queue);
    case 'offered':
      return sooner(
        clock('execute', execute),
        sooner(clock('start', start), clock('queue', queue)),
      );
    case 'granted':
      return executeLeftMs === undefined ? clock('execute', execute) : stoppedClock(executeLeftMs);
    case 'device':
      return stoppedClock(executeLeftMs ?? 0);
    case 'cancelling':
      return clock('cancel', cancel);
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
