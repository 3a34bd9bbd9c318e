import { isFinalCard } from '../call/merge-card.ts';
import type { CallsState } from './fold-calls.ts';

export interface FinishedCalls {
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
