import { createStore, type StoreApi } from 'zustand/vanilla';
import { isFinalCard } from '../call/merge-card.ts';
import type { EndedPart, Snapshot, WatchEvent } from '../protocol/watch-messages.ts';
import {
  type CallsState,
  callsOfSnapshot,
  foldCalls,
  NO_CALLS,
  withDeleted,
  withEnded,
} from './fold-calls.ts';

export type { CallEntry } from './fold-calls.ts';

export interface CallsActions {
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
        if (!entry || entry === before.byId[id] || !isFinalCard(entry.card)) continue;
        const old = before.byId[id];
        if (old ? isFinalCard(old.card) : before.isPart) continue;
        const list = entry.card.status === 'SUCCESS' ? done : failed;
        list.push(entry.card.tool_name ?? id);
      }
      return { done, failed };
    },
  };
}
