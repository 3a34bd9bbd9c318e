import { createStore, type StoreApi } from 'zustand/vanilla';
import { isFinalCard, mergeCard } from '../call/merge-card.ts';
import { sameJson } from '../json/equal.ts';
import type { Card, CardUpdate } from '../protocol/card.ts';
import type { EndedPart, Snapshot, WatchEvent } from '../protocol/watch-messages.ts';
import { own } from '../util/own.ts';

interface CallsActions {
  /** Folds a batch of events in and tells subscribers once, or not at all when nothing changed. */
  apply(events: readonly WatchEvent[]): void;
  replace(snapshot: Snapshot): void;
  /** Ended calls that the snapshot did not have. */
  add(part: EndedPart): void;
  /** The server has said that it deleted this call. */
  markDeleted(callId: string): void;
}

export type CallsStore = StoreApi<CallsState & CallsActions>;

/** Every call's card, fed by the watch feed alone. */
export function createCallsStore(): CallsStore {
  return createStore((set) => ({
    ...NO_CALLS,
    apply: (events) => set((state) => foldCalls(state, events)),
    markDeleted: (callId) => set((state) => withDeleted(state, callId)),
    replace: (snapshot) =>
      set((state) => ({ leftOut: 0, isPart: false, ...callsOfSnapshot(state, snapshot) })),
    add: (part) => set((state) => withEnded(state, part)),
  }));
}

interface FinishedCalls {
  /** Tool names. */
  readonly done: readonly string[];
  readonly failed: readonly string[];
}

const NONE: FinishedCalls = { done: [], failed: [] };

/** Tells which calls finished between two looks at the store (SF15). */
export function createCallSummary(initial: CallsState): {
  since(state: CallsState): FinishedCalls;
} {
  let seen = initial;
  return {
    since(state) {
      if (state.byId === seen.byId) return NONE;
      const before = seen;
      seen = state;
      // The first snapshot is what is, not what happened; so is what it had no room for.
      if (before.order.length === 0 && state.order.length > 1) return NONE;
      const done: string[] = [];
      const failed: string[] = [];
      for (const id of state.order) {
        const entry = state.byId[id];
        if (!entry || !hasFinished(entry, before)) continue;
        const list = entry.card.status === 'SUCCESS' ? done : failed;
        list.push(entry.card.tool_name ?? id);
      }
      return { done, failed };
    },
  };
}

function hasFinished(entry: CallEntry, before: CallsState): boolean {
  const old = before.byId[entry.callId];
  if (entry === old || !isFinalCard(entry.card)) return false;
  return old ? !isFinalCard(old.card) : !before.isPart;
}

/** A call as the screen knows it. `seq` is the number of the event that last changed it. */
export interface CallEntry {
  readonly callId: string;
  readonly runId: string;
  readonly seq: number;
  readonly card: Card;
  /** The server has said that it deleted the call: nothing more can be had or done. */
  readonly isDeleted?: true;
}

type CallEntries = Readonly<Record<string, CallEntry>>;

export interface CallsState {
  readonly byId: CallEntries;
  /** Ids, oldest first. A new array only when a call came or went. */
  readonly order: readonly string[];
  /** How many calls had no room in the last snapshot; their updates are not for this state. */
  readonly leftOut?: number;
  /** More of the calls are on their way: those that have ended, or all in a further snapshot. */
  readonly isPart?: boolean;
}

export const NO_CALLS: CallsState = { byId: {}, order: [] };

/** Cards kept in a tab. A virtual list holds 60 fps over that many; older ones are in the history. */
export const KEPT_CALLS = 10_000;

/** Folds events into the cards (SF1 to SF4). Entries that do not change keep their identity. */
export function foldCalls(state: CallsState, events: readonly WatchEvent[]): CallsState {
  const changed = new Map<string, CallEntry>();
  const added: string[] = [];
  for (const event of events) {
    if (event.type !== 'call') continue;
    const id = event.tool_call_id;
    const before = changed.get(id) ?? own(state.byId, id);
    if (!before && !isIntroduced(state, event.update)) continue;
    const card = mergeCard(before?.card, event.update);
    if (before && card === before.card) continue;
    if (!before) added.push(id);
    changed.set(id, { callId: id, runId: before?.runId ?? event.run_id, seq: event.seq, card });
  }
  if (changed.size === 0) return state;
  const byId = { ...state.byId, ...Object.fromEntries(changed) };
  return added.length === 0
    ? { ...state, byId }
    : trim({ ...state, byId, order: [...state.order, ...added] });
}

/** A snapshot replaces what was known (SF5); equal cards keep their identity. */
export function callsOfSnapshot(state: CallsState, snapshot: Snapshot): CallsState {
  const byId: Record<string, CallEntry> = {};
  for (const call of snapshot.calls) {
    const id = call.tool_call_id;
    const before = own(state.byId, id);
    const card = mergeCard(undefined, call.card);
    const known = before && before.runId === call.run_id && sameJson(before.card, card);
    byId[id] = known ? before : { callId: id, runId: call.run_id, seq: snapshot.seq, card };
  }
  const leftOut = snapshot.left_out?.calls;
  const order = snapshot.calls.map((call) => call.tool_call_id);
  return {
    byId,
    order,
    ...(leftOut === undefined ? {} : { leftOut }),
    ...(snapshot.rest === undefined ? {} : { isPart: true }),
  };
}

/** SF22: what is known of a call counts; the others take their places by the time they were made. */
function withEnded(state: CallsState, { calls, next }: EndedPart): CallsState {
  const more = calls
    .filter((call) => !own(state.byId, call.tool_call_id))
    .map((call): CallEntry => {
      const { tool_call_id: callId, run_id: runId } = call;
      return { callId, runId, seq: 0, card: mergeCard(undefined, call.card) };
    });
  const byId = { ...Object.fromEntries(more.map((entry) => [entry.callId, entry])), ...state.byId };
  const order = inOrder(more.toReversed(), state);
  return trim({ ...state, byId, order, isPart: next !== null });
}

/** Makes one list in order, oldest first, of two that are. */
function inOrder(more: readonly CallEntry[], state: CallsState): string[] {
  const waiting = [...more];
  const order = state.order.flatMap((id) => {
    const madeAt = own(state.byId, id)?.card.created_at ?? 0;
    const at = waiting.findIndex(({ card }) => (card.created_at ?? 0) > madeAt);
    const before = waiting.splice(0, at < 0 ? waiting.length : at);
    return [...before.map(({ callId }) => callId), id];
  });
  return [...order, ...waiting.map(({ callId }) => callId)];
}

/** Runs with calls that are no longer here. */
export const runsThatLost = (before: CallsState, after: CallsState): ReadonlySet<string> =>
  new Set(
    Object.values(before.byId)
      .filter(({ callId }) => !own(after.byId, callId))
      .map(({ runId }) => runId),
  );

/** SF19: of a call that is not here nothing is kept. */
export function withDeleted<State extends { readonly byId: CallEntries }>(
  state: State,
  callId: string,
): State {
  const entry = own(state.byId, callId);
  if (!entry || entry.isDeleted) return state;
  return { ...state, byId: { ...state.byId, [callId]: { ...entry, isDeleted: true } } };
}

/** SO6: a late answer says nothing of the call itself. */
const isIntroduced = (state: CallsState, update: CardUpdate): boolean =>
  !isLeftOut(state, update) && !(update.late_result && update.tool_name === undefined);

/** SF16: an update of a call that no event introduced, where a snapshot had no room for all calls. */
export const isLeftOut = (state: CallsState, update: CardUpdate): boolean =>
  (state.leftOut ?? 0) > 0 && update.tool_name === undefined;

/** SF4: the oldest final cards go first; a call that is open is never dropped. */
function trim(state: CallsState): CallsState {
  let surplus = state.order.length - KEPT_CALLS;
  if (surplus <= 0) return state;
  const byId = { ...state.byId };
  const order = state.order.filter((id) => {
    const entry = own(state.byId, id);
    if (surplus <= 0 || !entry || !isFinalCard(entry.card)) return true;
    surplus -= 1;
    delete byId[id];
    return false;
  });
  return { ...state, byId, order };
}
