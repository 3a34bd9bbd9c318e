import { CLOCKS } from '../protocol/limits.ts';
import {
  type AtDevice,
  type Call,
  type CallHead,
  type Deadlines,
  type Granted,
  isPolling,
  type Offered,
} from './call.ts';
import type { EventFields } from './call-event.ts';
import type { Step } from './call-state.ts';
import { approvalMs, type Moment, NO_DEADLINES } from './clocks.ts';

/**
 * The call in the phase that it goes to, with the fields that the event brings and the clocks of
 * the contract, section 2. A phase is made here and nowhere else.
 */
export function enter(call: Call, step: Step, fields: EventFields | undefined, now: Moment): Call {
  const head: CallHead = fields ? { ...call, ...fields } : call;
  const { wall, steady } = now;
  switch (step.phase) {
    case 'held':
      return { ...head, ...step, deadlines: NO_DEADLINES };
    case 'approval': {
      const deadlines = { approval: steady + approvalMs(head) };
      return { ...head, ...step, deadlines };
    }
    case 'queued':
      return { ...head, ...step, queuedAt: wall, deadlines: { queue: steady + CLOCKS.queueMs } };
    case 'offered':
      return offer(call, head, step, now);
    case 'granted': {
      const { startedAt = wall } = call;
      const deadlines = executeClock(call, head.timeoutMs, step, steady);
      return { ...head, ...step, startedAt, deviceLeftMs: deviceLeftMs(call, steady), deadlines };
    }
    case 'device': {
      const { startedAt = wall } = call;
      return { ...head, ...step, startedAt, deadlines: deviceClock(call, head.timeoutMs, steady) };
    }
    case 'cancelling': {
      const deadlines =
        call.phase === 'cancelling'
          ? withoutResume(call.deadlines)
          : { cancel: steady + CLOCKS.cancelMs };
      return { ...head, ...step, deviceLeftMs: deviceLeftMs(call, steady), deadlines };
    }
    case null:
      return end(head, step, deviceLeftMs(call, steady), wall);
  }
}

function offer(
  call: Call,
  head: CallHead,
  step: Extract<Step, { phase: 'offered' }>,
  { wall, steady }: Moment,
): Offered {
  return {
    ...head,
    ...step,
    offeredAt: wall,
    // A client that does not claim may run it from now on.
    startedAt: step.provider.claims ? call.startedAt : (call.startedAt ?? wall),
    deviceLeftMs: deviceLeftMs(call, steady),
    deadlines: offerClocks(call, head.timeoutMs, step, steady),
  };
}

function end(
  head: CallHead,
  step: Extract<Step, { phase: null }>,
  left: number | undefined,
  completedAt: number,
): Call {
  const ended = { phase: null, granted: step.granted, completedAt, deviceLeftMs: left } as const;
  const deadlines = NO_DEADLINES;
  return step.status === 'SUCCEEDED'
    ? { ...head, ...ended, status: step.status, deadlines }
    : { ...head, ...ended, status: step.status, error: step.error, deadlines };
}

/** The clocks of a call that is offered, or offered again. */
function offerClocks(
  call: Call,
  timeoutMs: number,
  { provider, granted }: Pick<Offered, 'provider' | 'granted'>,
  steady: number,
): Offered['deadlines'] {
  const { queue, execute, executeLeftMs = timeoutMs }: Deadlines = call.deadlines;
  const executeUntil = execute ?? steady + executeLeftMs;
  // Its time runs from now on, once.
  if (!provider.claims) return { execute: executeUntil };
  const running = execute === undefined ? {} : { execute };
  // Granted before: its time runs on, so that no client holds it open by coming back (CK7).
  const clocks = call.granted ? { execute: executeUntil } : running;
  // Possibly granted, and its client is back: only what was not started may wait for a claim, or another.
  if (granted) return clocks;
  const untaken = { ...clocks, queue: queue ?? steady + CLOCKS.queueMs };
  // One that polls takes it when it asks next, and has the queue's time for that.
  return isPolling(provider) ? untaken : { ...untaken, start: steady + CLOCKS.startMs };
}

/** The time to run begins, or goes on after the person at the device was asked. */
function executeClock(
  call: Call,
  timeoutMs: number,
  { provider }: Pick<Granted, 'provider'>,
  steady: number,
): Granted['deadlines'] {
  // Started anew, or its client is back: its clock goes on, or stands.
  if (call.phase === 'granted') {
    return provider === call.provider ? call.deadlines : withoutResume(call.deadlines);
  }
  const { execute, executeLeftMs = timeoutMs }: Deadlines = call.deadlines;
  return { execute: execute ?? steady + executeLeftMs };
}

/** The time of the person at the device runs, what is left of all such times together (CK6); the time to run stands. */
function deviceClock(call: Call, timeoutMs: number, steady: number): AtDevice['deadlines'] {
  // Its client came back while its person is being asked: that clock goes on.
  if (call.phase === 'device') return withoutResume(call.deadlines);
  const { execute, executeLeftMs = timeoutMs }: Deadlines = call.deadlines;
  const approval = steady + (call.deviceLeftMs ?? CLOCKS.approvalMs);
  const left = execute === undefined ? executeLeftMs : Math.max(0, execute - steady);
  return { approval, executeLeftMs: left };
}

/** The person at the device may still be asked so long, once the call goes on from there. */
function deviceLeftMs(call: Call, steady: number): number | undefined {
  if (call.phase !== 'device') return call.deviceLeftMs;
  return Math.max(0, (call.deadlines.approval ?? steady) - steady);
}

function withoutResume<Clocks extends Deadlines>({ resume: _, ...others }: Clocks) {
  return others;
}
