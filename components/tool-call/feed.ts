import type { CallsState } from '#lib/stores/fold-calls';

export type FeedFilter = 'all' | 'active' | 'failed' | 'run';

/** Whether a call passes the filter now. */
function passesFilter(
  state: Pick<CallsState, 'byId'>,
  callId: string,
  filter: FeedFilter,
  runId: string | undefined,
): boolean {
  if (filter === 'all') return true;
  const entry = Object.hasOwn(state.byId, callId) ? state.byId[callId] : undefined;
  if (!entry) return false;
  const { status } = entry.card;
  switch (filter) {
    case 'active':
      return status !== 'SUCCESS' && status !== 'ERROR';
    case 'failed':
      return status === 'ERROR';
    case 'run':
      return entry.runId === runId;
  }
}

/** How many calls are open. Runs at every flush of the feed, over every call. */
export function countActive(state: Pick<CallsState, 'byId' | 'order'>): number {
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
}

export interface FeedChoice {
  readonly filter: FeedFilter;
  readonly runId: string | undefined;
  /** The order as it was when the person paused or scrolled away; null while the list follows. */
  readonly held: readonly string[] | null;
}

/** What the list shows (CD12). Calls that came after `held` wait behind the count. */
export function feedView(
  state: Pick<CallsState, 'byId' | 'order'>,
  { filter, runId, held }: FeedChoice,
): FeedView {
  const pick = (ids: readonly string[]) =>
    filter === 'all' ? ids : ids.filter((id) => passesFilter(state, id, filter, runId));
  const newest = held?.at(-1);
  if (!held || newest === undefined) return { ids: pick(state.order).toReversed(), fresh: 0 };
  const later = state.order.slice(state.order.lastIndexOf(newest) + 1);
  return { ids: pick(held).toReversed(), fresh: pick(later).length };
}

/**
 * `feedView` that gives the same object for as long as the list is the same.
 * Without a filter that is known without looking at any call, which is what
 * keeps hundreds of updates a second cheap.
 */
export function createFeedSelector(
  choice: FeedChoice,
): (state: Pick<CallsState, 'byId' | 'order'>) => FeedView {
  let order: readonly string[] | null = null;
  let view: FeedView = { ids: [], fresh: 0 };
  return (state) => {
    if (state.order === order && choice.filter === 'all') return view;
    order = state.order;
    const next = feedView(state, choice);
    if (!isSameView(view, next)) view = next;
    return view;
  };
}

function isSameView(a: FeedView, b: FeedView): boolean {
  if (a.fresh !== b.fresh || a.ids.length !== b.ids.length) return false;
  for (let index = 0; index < a.ids.length; index += 1) {
    if (a.ids[index] !== b.ids[index]) return false;
  }
  return true;
}
