import { boundCard } from '#lib/call/bound-card';
import type { CallRecord } from '#lib/call/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import { hasJournal, isRerunnable } from './advance.ts';
import type { CallLedger } from './call-ledger.ts';
import { runningClock } from './describe-change.ts';
import type { Dispatcher } from './dispatcher.ts';
import { ENDED_LIMITS, estimateRecordBytes, toShownAlone } from './ended-calls.ts';
import { awaitingReturn } from './instance-changes.ts';
import { readRecent } from './read-recent.ts';

/** So much of the time without a server counts; a call's clocks mean time in which it could be served. */
const COUNTED_ABSENCE_MS = 10_000;

/**
 * By how much stored deadlines are moved at a start (rule CK4). Nobody can tell
 * a long absence from a wall clock that was set, and neither may end calls that
 * a client is about to answer, or let them wait for ever. Pure.
 */
export function shiftAfterAbsence(lastAliveAt: number | undefined, now: number): number {
  if (lastAliveAt === undefined) return 0;
  const absence = now - lastAliveAt;
  return absence < 0 ? absence : Math.max(0, absence - COUNTED_ABSENCE_MS);
}

/**
 * Takes up what was open when the server went away. Deadlines were stored as
 * wall times, so the clocks of waiting calls go on; a client's calls wait for it
 * within the resume grace.
 */
export async function recoverCalls(deps: {
  store: Store;
  ledger: CallLedger;
  dispatcher: Dispatcher;
  clock: Clock;
  shiftMs: number;
  onError(error: unknown): void;
}): Promise<{ open: number; interrupted: number }> {
  const { store, ledger, dispatcher, clock, shiftMs, onError } = deps;
  await takeUpEnded(store, ledger);
  const stored = (await store.openCalls()).map(withBoundedCard);
  const open = shiftMs === 0 ? stored : stored.map((call) => withDeadlinesMoved(call, shiftMs));
  for (const call of open) ledger.adopt(call);

  let interrupted = 0;
  for (const call of open) {
    // Written, since the next start measures from this one.
    if (shiftMs !== 0) ledger.amend(call, { clock: runningClock(call) }).catch(onError);
    if (call.phase === 'streaming') {
      interrupted += 1;
      end(call, 'The server stopped while the model was still writing the arguments');
    } else if (call.source === 'client' && call.provider && call.phase !== 'queued') {
      waitForClient(call);
    } else if (call.source === 'server' && call.status === 'RUNNING') {
      interrupted += runAgain(call) ? 0 : 1;
    } else if (call.source === 'server' && call.phase === 'queued') {
      // No client comes that would have it placed.
      dispatcher.offerAgain(ledger.latest(call.id) ?? call);
    }
  }
  return { open: open.length, interrupted };

  function end(call: CallRecord, message: string): void {
    dispatcher.apply(call, { type: 'interrupted', message });
  }

  function waitForClient(call: CallRecord): void {
    if (!hasJournal(call) && !isRerunnable(call)) return;
    const next = awaitingReturn(ledger.latest(call.id) ?? call, clock.now());
    ledger.amend(next, { clock: runningClock(next) }).catch(onError);
  }

  /** A server tool that only reads is run once more; what another may have done is unknown. */
  function runAgain(call: CallRecord): boolean {
    const latest = ledger.latest(call.id) ?? call;
    const placed = isRerunnable(call)
      ? dispatcher.place({ ...latest, phase: 'queued' })
      : undefined;
    if (!placed || placed.record.phase === 'queued') {
      end(call, 'The server stopped while the tool was running');
      return false;
    }
    ledger.commit(placed.record, placed.updates).then(placed.after, onError);
    return true;
  }
}

/** The newest that have ended, as far as memory is to hold them; oldest first. */
async function takeUpEnded(store: Store, ledger: CallLedger): Promise<void> {
  const { shown, shareBytes, totalBytes } = ENDED_LIMITS;
  const adoptions: (() => void)[] = [];
  let room = totalBytes;
  for await (const stored of readRecent(store, { count: shown })) {
    if (!isFinalStatus(stored.status)) continue;
    const call = withBoundedCard(stored);
    const bytes = estimateRecordBytes(call, shareBytes);
    const isKept = bytes <= Math.min(shareBytes, room);
    if (isKept) room -= bytes;
    const summary = isKept ? undefined : toShownAlone(call);
    adoptions.push(summary ? () => ledger.adoptShown(summary) : adopting(ledger, call));
  }
  for (const adopt of adoptions.toReversed()) adopt();
}

/** Apart from the loop above, so that nothing else holds a call that is not kept. */
const adopting = (ledger: CallLedger, call: CallRecord) => () => ledger.adopt(call);

/** A card of before there were previews may hold arguments of any size. */
const withBoundedCard = (call: CallRecord): CallRecord => ({
  ...call,
  card: boundCard(call.card),
});

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
