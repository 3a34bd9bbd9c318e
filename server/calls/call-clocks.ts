import type { Call, Deadlines } from '#lib/call/call';
import type { CallClock } from '#lib/protocol/call-status';
import type { SteadyClock } from '../base/clock.ts';
import type { CallParts } from './call-parts.ts';

/** Each turn reads what lies in the sockets; the second, what did not fit into the first. */
const TURNS_TO_READ = 3;

/**
 * One timer per open call, for the deadline that comes first. It only says that
 * a clock ran out; what that means is decided elsewhere. When the server itself
 * stood still, what arrived meanwhile is read first, so that it counts.
 */
export function createCallClocks(deps: {
  clock: SteadyClock;
  onRanOut(callId: string, which: CallClock): void;
}) {
  const armed = new Map<string, { at: number; which: CallClock; cancel: () => void }>();

  /** Arms the clock of this state that ends first; whatever was armed for the call before is undone. */
  function follow(record: Call): void {
    const before = armed.get(record.id);
    const next = earliest(record.deadlines);
    if (before && next && before.at === next.at && before.which === next.which) return;
    before?.cancel();
    if (!next) {
      armed.delete(record.id);
      return;
    }
    const entry = { ...next, cancel: () => {} };
    const ranOut = () => {
      // Undone in one of the turns that were waited for.
      if (armed.get(record.id) !== entry) return;
      armed.delete(record.id);
      deps.onRanOut(record.id, next.which);
    };
    entry.cancel = deps.clock.schedule(Math.max(0, next.at - deps.clock.steady()), () => {
      // guard: late-timer-reads-first
      if (deps.clock.steady() > next.at) afterTurns(TURNS_TO_READ, ranOut);
      else ranOut();
    });
    armed.set(record.id, entry);
  }

  return {
    follow,
    stop() {
      for (const { cancel } of armed.values()) cancel();
      armed.clear();
    },
  };
}

function afterTurns(turns: number, then: () => void): void {
  if (turns === 0) then();
  else setImmediate(() => afterTurns(turns - 1, then));
}

function earliest(deadlines: Deadlines): { at: number; which: CallClock } | null {
  let first: { at: number; which: CallClock } | null = null;
  for (const which of ['approval', 'queue', 'start', 'execute', 'resume', 'cancel'] as const) {
    const at = deadlines[which];
    if (at !== undefined && (!first || at < first.at)) first = { at, which };
  }
  return first;
}

/** What happens when a clock of a call runs out: its event, with what it needs to know of the client. */
export function clockRanOut(parts: CallParts, callId: string, clock: CallClock): void {
  const call = parts.repository.latest(callId);
  if (!call) return;
  const { toolName } = call;
  const instanceId = call.provider?.instanceId ?? '';
  // A client that is busy keeps its turn.
  const isKept = clock === 'start' && parts.index.isRunning(instanceId, toolName);
  // A tool that takes too long is no fault of its client; one that does not even answer is.
  const isSilent = clock === 'execute' && parts.facts(instanceId)?.responsive === false;
  const isFault = isSilent || (clock === 'start' && !isKept);
  if (call.provider && isFault) parts.breaker.failed(instanceId, toolName);
  parts.engine.apply(call, { type: 'clock', clock, isKept }, 'server');
}
