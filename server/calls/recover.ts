import { boundCard } from '#lib/call/bound-card';
import type { CallRecord } from '#lib/call/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Store } from '../store/store.ts';
import type { CallRepository } from './call-repository.ts';
import { ENDED_LIMITS, estimateRecordBytes, toShownAlone } from './ended-calls.ts';
import type { CallEngine } from './engine.ts';
import { readRecent } from './read-recent.ts';

/** So much of the time without a server counts; a call's clocks mean time in which it could be served. */
const COUNTED_ABSENCE_MS = 10_000;

/**
 * By how much stored deadlines are moved at a start (rule CK4). A long absence
 * cannot be distinguished from a wall clock that was set, and neither may end calls
 * that a client is about to answer, or let them wait for ever. Pure.
 */
export function shiftAfterAbsence(lastAliveAt: number | undefined, now: number): number {
  if (lastAliveAt === undefined) return 0;
  const absence = now - lastAliveAt;
  // guard: absence-counted-in-part
  return absence < 0 ? absence : Math.max(0, absence - COUNTED_ABSENCE_MS);
}

/** Takes up what was open when the server stopped: each call gets the event `recovered`. */
export async function recoverCalls(deps: {
  store: Store;
  repository: CallRepository;
  engine: CallEngine;
  shiftMs: number;
  onAdopted(call: CallRecord): void;
}): Promise<{ open: number; interrupted: number }> {
  const { store, repository, engine, shiftMs } = deps;
  await takeUpEnded(store, repository);
  // guard: open-calls-recovered
  const open = (await store.openCalls()).map(withBoundedCard);
  // All of them first: where one goes may depend on the others.
  for (const call of open) {
    repository.adopt(call);
    deps.onAdopted(call);
  }
  let interrupted = 0;
  for (const call of open) {
    const applied = engine.apply(call, { type: 'recovered', shiftMs }, 'server');
    if (applied.ok && isFinalStatus(applied.record.status)) interrupted += 1;
  }
  return { open: open.length, interrupted };
}

/** The newest that have ended, as far as memory is to hold them; oldest first. */
async function takeUpEnded(store: Store, repository: CallRepository): Promise<void> {
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
    adoptions.push(summary ? () => repository.adoptShown(summary) : adopting(repository, call));
  }
  for (const adopt of adoptions.toReversed()) adopt();
}

/** Apart from the loop above, so that nothing else holds a call that is not kept. */
const adopting = (repository: CallRepository, call: CallRecord) => () =>
  void repository.adopt(call);

/** A card of before there were previews may hold arguments of any size. */
const withBoundedCard = (call: CallRecord): CallRecord => ({
  ...call,
  card: boundCard(call.card),
});
