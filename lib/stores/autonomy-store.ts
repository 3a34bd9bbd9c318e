import { createStore, type StoreApi } from 'zustand/vanilla';
import { AUTONOMY_LEVELS, type AutonomyLevel, levelOfRun } from '../policy/autonomy.ts';
import type { WireAutonomy } from '../policy/policy-wire.ts';
import type { WatchEvent } from '../protocol/watch-messages.ts';

type Switched = Extract<WatchEvent, { type: 'autonomy' }>;

/** How much agents do without a person; null until the server has answered. */
export interface AutonomyState {
  readonly autonomy: WireAutonomy | null;
  /** How many snapshots came: an event may have been lost before each of them. */
  readonly snapshots: number;
}

export interface AutonomyActions {
  apply(events: readonly WatchEvent[]): void;
  replace(): void;
}

export type AutonomyStore = StoreApi<AutonomyState & AutonomyActions>;

export const createAutonomyStore = (): AutonomyStore =>
  createStore((set) => ({
    autonomy: null,
    snapshots: 0,
    apply: (events) => set((state) => foldAutonomy(state, events)),
    replace: () => set(({ snapshots }) => ({ snapshots: snapshots + 1 })),
  }));

/** AN1: what was set replaces what was known. Another state also where nothing was known yet. */
function foldAutonomy(state: AutonomyState, events: readonly WatchEvent[]): AutonomyState {
  const switched = events.filter((event) => event.type === 'autonomy');
  if (switched.length === 0) return state;
  const { autonomy } = state;
  return { ...state, autonomy: autonomy && switched.reduce(withLevel, autonomy) };
}

function withLevel(autonomy: WireAutonomy, { of_run, level, set_at }: Switched): WireAutonomy {
  if (of_run === null) return level === null ? autonomy : { ...autonomy, level };
  const others = autonomy.runs.filter(({ run_id }) => run_id !== of_run);
  return {
    ...autonomy,
    runs: level === null ? others : [...others, { run_id: of_run, level, set_at }],
  };
}

/** The level of its own that a run has. */
export const ownLevel = (autonomy: WireAutonomy | null, runId: string): AutonomyLevel | undefined =>
  autonomy?.runs.find(({ run_id }) => run_id === runId)?.level;

/** The level that counts for a run: a sub-agent's has that of the run that it works for, or less. */
export function effectiveLevel(
  autonomy: WireAutonomy | null,
  runId: string,
  rootId: string,
): AutonomyLevel | null {
  if (autonomy === null) return null;
  const level = levelOfRun(autonomy.level, ownLevel(autonomy, rootId));
  const own = ownLevel(autonomy, runId) ?? level;
  return AUTONOMY_LEVELS.indexOf(own) < AUTONOMY_LEVELS.indexOf(level) ? own : level;
}
