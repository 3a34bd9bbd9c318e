import { createStore, type StoreApi } from 'zustand/vanilla';
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
