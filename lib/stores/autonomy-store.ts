import { createStore, type StoreApi } from 'zustand/vanilla';
import { AUTONOMY_LEVELS, type AutonomyLevel, levelOfRun } from '../policy/autonomy.ts';
import type { WireAutonomy } from '../policy/policy-wire.ts';

/** How much agents do without a person; null until the server has answered. */
export interface AutonomyState {
  readonly autonomy: WireAutonomy | null;
}

export type AutonomyStore = StoreApi<AutonomyState>;

export const createAutonomyStore = (): AutonomyStore =>
  createStore<AutonomyState>(() => ({ autonomy: null }));

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
