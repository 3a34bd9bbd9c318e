import type { CallEntry, CallsState } from '#lib/stores/calls-store';
import { own } from '#lib/util/own';

type Known = Pick<CallsState, 'byId' | 'order'>;

export type FeedFilter = 'all' | 'active' | 'waiting' | 'failed' | 'run';

/** Whether a call passes the filter now. */
function passesFilter(
  entry: CallEntry | undefined,
  filter: FeedFilter,
  runId: string | undefined,
): boolean {
  if (filter === 'all') return true;
  if (!entry) return false;
  const { status, phase } = entry.card;
  switch (filter) {
    case 'active':
      return status !== 'SUCCESS' && status !== 'ERROR';
    case 'waiting':
      return phase === 'approval' && status !== 'SUCCESS' && status !== 'ERROR';
    case 'failed':
      return status === 'ERROR';
    case 'run':
      return entry.runId === runId;
  }
}

/** How many calls are open. Runs at every flush of the feed, over every call. */
export function countActive(state: Known): number {
  let count = 0;
  for (const id of state.order) {
    const status = state.byId[id]?.card.status;
    if (status !== 'SUCCESS' && status !== 'ERROR') count += 1;
  }
  return count;
}

export interface FeedView {
  /** Newest first. */
  readonly ids: readonly string[];
  /** How many passing calls came since the list was held. */
  readonly fresh: number;
  /** How many calls there are in all, passing or not. */
  readonly total: number;
}

export interface FeedChoice {
  readonly filter: FeedFilter;
  readonly runId: string | undefined;
  /** The order as it was when the person paused or scrolled away; null while the list follows. */
  readonly held: readonly string[] | null;
  /** Calls of before, which come after all those of the feed (SO5). */
  readonly older: Known;
  /** Calls that wait for a person, to be in sight however many came after them (CD35). */
  readonly pinned?: readonly string[];
}

export const NO_OLDER: Known = { byId: {}, order: [] };

/** What the list shows (CD12, CD33). Calls that came after `held` wait behind the count. */
export function feedView(state: Known, choice: FeedChoice): FeedView {
  const { filter, runId, held, older, pinned = [] } = choice;
  const entryOf = (id: string) => own(state.byId, id) ?? own(older.byId, id);
  const passes = (id: string) => passesFilter(entryOf(id), filter, runId);
  const isNested = (id: string) => {
    const parent = entryOf(id)?.card.parent_call_id;
    return parent && entryOf(parent) && passes(parent);
  };
  const pick = (ids: readonly string[]) => ids.filter((id) => passes(id) && !isNested(id));
  const before = older.order.filter((id) => !own(state.byId, id));
  const total = before.length + state.order.length;
  // A snapshot may have left some of them out: these are among the calls of before, if anywhere.
  const still = held?.filter((id) => own(state.byId, id));
  const newest = still?.at(-1);
  if (!still || newest === undefined) {
    const ids = pick([...before, ...state.order]).toReversed();
    return { ids: withPinned(ids, pinned), fresh: 0, total };
  }
  // A snapshot orders calls of one moment anew.
  const seen = new Set(still);
  const later = state.order
    .slice(state.order.lastIndexOf(newest) + 1)
    .filter((id) => !seen.has(id));
  const ids = pick([...before, ...still]).toReversed();
  return { ids: withPinned(ids, pinned), fresh: pick(later).length, total };
}

/** So many of the newest cards are in sight without pinning. */
const IN_SIGHT = 10;
/** The oldest of them: they have waited longest. */
const MOST_PINNED = 20;

function withPinned(ids: readonly string[], pinned: readonly string[]): readonly string[] {
  if (pinned.length === 0) return ids;
  const far = new Set(ids.slice(IN_SIGHT));
  const first = new Set(pinned.filter((id) => far.has(id)).slice(0, MOST_PINNED));
  return first.size === 0 ? ids : [...first, ...ids.filter((id) => !first.has(id))];
}

/** The listed call whose card has this one in it: itself, or the one that its sub-agent works for. Else itself. */
export function listedFor(id: string, ids: readonly string[], state: Known, older: Known): string {
  const parent = (own(state.byId, id) ?? own(older.byId, id))?.card.parent_call_id;
  return parent && !ids.includes(id) ? listedFor(parent, ids, state, older) : id;
}

/**
 * `feedView` that gives the same object for as long as the list is the same.
 * Without a filter that is known without looking at any call, which is what
 * keeps hundreds of updates a second cheap.
 */
export function createFeedSelector(choice: FeedChoice): (state: Known) => FeedView {
  let order: readonly string[] | null = null;
  let view: FeedView = { ids: [], fresh: 0, total: 0 };
  return (state) => {
    if (state.order === order && choice.filter === 'all') return view;
    order = state.order;
    const next = feedView(state, choice);
    if (!isSameView(view, next)) view = next;
    return view;
  };
}

function isSameView(a: FeedView, b: FeedView): boolean {
  if (a.fresh !== b.fresh || a.total !== b.total || a.ids.length !== b.ids.length) return false;
  for (let index = 0; index < a.ids.length; index += 1) {
    if (a.ids[index] !== b.ids[index]) return false;
  }
  return true;
}
