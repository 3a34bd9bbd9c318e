import type { Call } from '#lib/call/call';
import type { Moment } from '#lib/call/clocks';
import { boundCard } from '#lib/call/merge-card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { LastMark } from '../base/clock.ts';
import type { Store } from '../store/room.ts';
import type { CallRepository } from './call-repository.ts';
import type { ShownCall } from './call-service.ts';
import { ENDED_LIMITS, estimateRecordBytes, readRecent, toShownAlone } from './ended-calls.ts';
import type { CallEngine } from './engine.ts';

/** So much of the time without a server counts; a call's clocks mean time in which it could be served. */
const COUNTED_ABSENCE_MS = 10_000;

/**
 * Where the steady clock goes on at a start (rule CK4). A long absence cannot be
 * distinguished from a wall clock that was set, and neither may end calls that a
 * client is about to answer, or let them wait for ever. It never goes back behind
 * what a call was marked with, whatever became of the file. Pure.
 */
export function steadyAtStart(
  last: LastMark | undefined,
  wallNow: number,
  open: readonly Pick<Call, 'clockMark'>[],
): number {
  const marked = open.reduce((newest, { clockMark }) => Math.max(newest, clockMark ?? 0), 0);
  if (last?.steady === undefined) return marked === 0 ? wallNow : marked;
  // guard: absence-counted-in-part
  const absence = Math.min(Math.max(0, wallNow - last.wall), COUNTED_ABSENCE_MS);
  return Math.max(last.steady + absence, marked);
}

/** By how much deadlines of before, which are wall times, are moved to be on the steady clock. Pure. */
export function shiftOfOlder(last: LastMark | undefined, { wall, steady }: Moment): number {
  const absence = last === undefined ? 0 : wall - last.wall;
  const uncounted = absence < 0 ? absence : Math.max(0, absence - COUNTED_ABSENCE_MS);
  return uncounted + steady - wall;
}

/** Takes up what was open when the server stopped: each call gets the event `recovered`. */
export async function recoverCalls(deps: {
  store: Store;
  repository: CallRepository;
  engine: CallEngine;
  /** They are as they are stored, oldest first. */
  open: readonly Call[];
  /** Deadlines that are wall times are moved by it. */
  shiftMs: number;
  /** True when its work goes on outside. */
  goesOn(call: Call): boolean;
  onAdopted(call: Call): void;
}): Promise<{ open: number; interrupted: number }> {
  const { store, repository, engine, shiftMs, goesOn } = deps;
  await takeUpEnded(store, repository);
  // guard: open-calls-recovered
  const open = deps.open.map(withBoundedCard);
  // All of them first: where one goes may depend on the others.
  for (const call of open) {
    repository.adopt(call);
    deps.onAdopted(call);
  }
  let interrupted = 0;
  for (const call of open) {
    const event = { type: 'recovered', shiftMs, ...(goesOn(call) && { goesOn: true }) } as const;
    const applied = engine.apply(call, event, 'server');
    if (applied.ok && isFinalStatus(applied.record.status)) interrupted += 1;
  }
  return { open: open.length, interrupted };
}

/** The newest that have ended, as far as memory is to hold them; oldest first. */
async function takeUpEnded(store: Store, repository: CallRepository): Promise<void> {
  const { shown, shareBytes, totalBytes } = ENDED_LIMITS;
  const taken: { readonly kept?: Call; readonly shown?: ShownCall }[] = [];
  let room = totalBytes;
  for await (const stored of readRecent(store, { count: shown })) {
    if (!isFinalStatus(stored.status)) continue;
    const call = withBoundedCard(stored);
    const bytes = estimateRecordBytes(call, shareBytes);
    const isKept = bytes <= Math.min(shareBytes, room);
    if (isKept) room -= bytes;
    taken.push(isKept ? { kept: call } : { shown: toShownAlone(call) });
  }
  for (const one of taken.toReversed()) {
    if (one.kept) repository.adopt(one.kept);
    else if (one.shown) repository.adoptShown(one.shown);
  }
}

/** A card of before there were previews may hold arguments of any size. */
const withBoundedCard = (call: Call): Call => ({
  ...call,
  card: boundCard(call.card),
});
