import { createStore, type StoreApi } from 'zustand/vanilla';
import type { RunRecord, RunSummary } from '../protocol/run.ts';
import type { Snapshot, WatchEvent } from '../protocol/watch-messages.ts';
import { foldRuns, NO_RUNS, type RunsState, runsOfSnapshot, withRecord } from './fold-runs.ts';

export interface RunsActions {
  apply(events: readonly WatchEvent[]): void;
  replace(snapshot: Snapshot): void;
  /** Adds a run that was fetched because the feed did not tell of it. */
  load(record: RunRecord): void;
}

export type RunsStore = StoreApi<RunsState & RunsActions>;

/** Conversations and their messages. */
export function createRunsStore(): RunsStore {
  return createStore((set) => ({
    ...NO_RUNS,
    apply: (events) => set((state) => foldRuns(state, events)),
    replace: (snapshot) => set((state) => runsOfSnapshot(state, snapshot)),
    load: (record) => set((state) => withRecord(state, record)),
  }));
}

/** Newest first, without those of sub-agents, which lie in the cards of their calls. */
export const newestRuns = (state: RunsState): RunSummary[] =>
  Object.values(state.runs)
    .filter(({ parent }) => !parent)
    .toSorted((a, b) => b.updated_at - a.updated_at);
