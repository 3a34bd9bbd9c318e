import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Snapshot, WatchEvent } from '../protocol/watch-messages.ts';
import {
  foldListings,
  type ListingsState,
  listingsOfSnapshot,
  NO_LISTINGS,
} from './fold-listings.ts';

export interface ListingsActions {
  apply(events: readonly WatchEvent[]): void;
  replace(snapshot: Snapshot): void;
}

export type ListingsStore = StoreApi<ListingsState & ListingsActions>;

/** Tools, clients and approvals as they are now. */
export function createListingsStore(): ListingsStore {
  return createStore((set) => ({
    ...NO_LISTINGS,
    apply: (events) => set((state) => foldListings(state, events)),
    replace: (snapshot) => set(() => listingsOfSnapshot(snapshot)),
  }));
}
