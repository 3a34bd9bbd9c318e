import type { Agent } from './agent.ts';
import { runTurn } from './run-turn.ts';
import type { TurnDeps } from './turn.ts';
import { NO_BUDGET } from './turn-budget.ts';

/** Of a turn, where none are given. */
export const MAX_STEPS = 10;

type Optional = 'maxSteps' | 'maxRetries' | 'silentMs' | 'budget' | 'isPolling';

/** The built-in agent, with the limits of issue 2 where none are given. */
export function createAgent(
  options: Omit<TurnDeps, Optional> & Partial<Pick<TurnDeps, Optional>>,
): Agent {
  const deps: TurnDeps = {
    ...{ maxSteps: MAX_STEPS, maxRetries: 2, silentMs: 60_000, budget: NO_BUDGET },
    isPolling: () => false,
    ...options,
  };
  return { maxSteps: deps.maxSteps, runTurn: (request) => runTurn(deps, request) };
}
