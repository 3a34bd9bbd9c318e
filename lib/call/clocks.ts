import type { CallClock } from '../protocol/call-status.ts';
import type { CardUpdate } from '../protocol/card.ts';
import { CLOCKS } from '../protocol/limits.ts';
import { type CallRecord, isPolling } from './call-record.ts';

export const NO_DEADLINES: CallRecord['deadlines'] = {
  approval: null,
  queue: null,
  start: null,
  execute: null,
  resume: null,
  cancel: null,
};

/** Sets and stops the clocks of the contract, section 2, as the phase changes. */
export function withClocks(prev: CallRecord, next: CallRecord, now: number): CallRecord {
  if (prev.phase === next.phase && prev.status === next.status && prev.provider === next.provider) {
    return next;
  }
  const isBackFromDevice = prev.phase === 'device' && next.phase !== 'device';
  return runningClocks(
    prev,
    isBackFromDevice ? { ...next, deviceLeftMs: deviceLeft(prev, now) } : next,
    now,
  );
}

/** Of the time in which the person at the device may be asked, in sum (CK6). */
function deviceLeft({ phase, deadlines, deviceLeftMs }: CallRecord, now: number): number {
  const left = deviceLeftMs ?? CLOCKS.approvalMs;
  return phase === 'device' ? Math.max(0, (deadlines.approval ?? now) - now) : left;
}

function runningClocks(prev: CallRecord, next: CallRecord, now: number): CallRecord {
  const { deadlines } = prev;
  switch (next.phase) {
    case null:
      return { ...next, deadlines: NO_DEADLINES, executeLeftMs: null, completedAt: now };
    case 'streaming':
      return next;
    case 'approval':
      return { ...next, deadlines: { ...NO_DEADLINES, approval: now + CLOCKS.approvalMs } };
    case 'queued':
      return {
        ...next,
        queuedAt: now,
        deadlines: { ...NO_DEADLINES, queue: now + CLOCKS.queueMs },
      };
    case 'offered':
      return offeredClocks(prev, next, now);
    case 'granted': {
      const left =
        prev.phase === 'device' ? (prev.executeLeftMs ?? next.timeoutMs) : next.timeoutMs;
      return {
        ...next,
        startedAt: prev.startedAt ?? now,
        executeLeftMs: null,
        deadlines: { ...NO_DEADLINES, execute: deadlines.execute ?? now + left },
      };
    }
    case 'device':
      // The client came back while its person is being asked: that clock goes on.
      if (prev.phase === 'device') return { ...next, deadlines: { ...deadlines, resume: null } };
      return {
        ...next,
        executeLeftMs: Math.max(0, (deadlines.execute ?? now) - now),
        deadlines: { ...NO_DEADLINES, approval: now + deviceLeft(prev, now) },
      };
    case 'cancelling':
      if (prev.phase === 'cancelling')
        return { ...next, deadlines: { ...deadlines, resume: null } };
      return { ...next, deadlines: { ...NO_DEADLINES, cancel: now + CLOCKS.cancelMs } };
  }
}

function offeredClocks(prev: CallRecord, next: CallRecord, now: number): CallRecord {
  const offered = { ...next, offeredAt: now, executeLeftMs: null };
  if (next.provider?.claims) {
    // Possibly granted, and its client is back: only what was not started may wait for a claim, or another.
    const queue = next.granted ? null : (prev.deadlines.queue ?? now + CLOCKS.queueMs);
    // One that polls takes it when it asks next, and has the queue's time for that.
    const start = next.granted || isPolling(next.provider) ? null : now + CLOCKS.startMs;
    // Granted before: its time runs on, so that no client holds it open by coming back (CK7).
    const execute = prev.granted ? executeDeadline(prev, now) : prev.deadlines.execute;
    return { ...offered, deadlines: { ...NO_DEADLINES, queue, start, execute } };
  }
  // A client that does not claim may run it from now on, so its time runs from now on, once.
  const execute = executeDeadline(prev, now);
  return { ...offered, startedAt: prev.startedAt ?? now, deadlines: { ...NO_DEADLINES, execute } };
}

const executeDeadline = ({ deadlines, executeLeftMs, timeoutMs }: CallRecord, now: number) =>
  deadlines.execute ?? now + (executeLeftMs ?? timeoutMs);

/** The resume clock runs, never past the clock that ends the call anyway. */
export function awaitingReturn(record: CallRecord, now: number): CallRecord {
  const { execute, queue } = record.deadlines;
  const resume = Math.min(now + CLOCKS.resumeMs, execute ?? Infinity, queue ?? Infinity);
  return { ...record, deadlines: { ...record.deadlines, start: null, resume } };
}

/** Each deadline that runs, `ms` later. */
export function withDeadlinesMoved(record: CallRecord, ms: number): CallRecord {
  const moved = (deadline: number | null) => (deadline === null ? null : deadline + ms);
  const { approval, queue, start, execute, resume, cancel } = record.deadlines;
  return {
    ...record,
    deadlines: {
      approval: moved(approval),
      queue: moved(queue),
      start: moved(start),
      execute: moved(execute),
      resume: moved(resume),
      cancel: moved(cancel),
    },
  };
}

/** In milliseconds: what a clock was set to, for the text of its ending. */
export function limitOf(record: CallRecord, which: CallClock): number {
  switch (which) {
    case 'approval':
      return CLOCKS.approvalMs;
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

/** The clock that a card shows: the one that ends the phase the call is in, of two the sooner. */
export function runningClock(record: CallRecord): CardUpdate['clock'] {
  const { deadlines, phase } = record;
  const clock = (name: CallClock, deadline: number | null): RunningClock | null =>
    deadline === null ? null : { name, deadline_at: deadline / 1000 };
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
      return clock('execute', deadlines.execute);
    case 'device':
      return { name: 'execute', deadline_at: null, remaining_ms: record.executeLeftMs ?? 0 };
    case 'cancelling':
      return clock('cancel', deadlines.cancel);
    case 'streaming':
    case null:
      return null;
  }
}

const sooner = (one: RunningClock | null, other: RunningClock | null): RunningClock | null =>
  one && (!other || one.deadline_at < other.deadline_at) ? one : other;
