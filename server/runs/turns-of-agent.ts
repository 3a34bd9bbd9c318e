import type { RunSummary } from '#lib/protocol/run';
import type { Caller } from '../auth/principal.ts';
import type { ActiveTurns } from './active-turns.ts';
import { refuse } from './run-refusals.ts';

/** Of one token, beside the sub-agents that work for them: each takes memory and asks a model. */
const MOST_TURNS = 64;

/** Why a further turn of an agent's run does not begin now (RU43). */
export function tooManyTurns(
  turns: Pick<ActiveTurns, 'activeIds' | 'runOf'>,
  { parent }: Pick<RunSummary, 'parent'>,
  owner: Caller | undefined,
) {
  if (parent || owner?.kind !== 'agent') return undefined;
  const isOwn = (runId: string) => {
    const summary = turns.runOf(runId)?.summary();
    return summary?.owner?.token_id === owner.tokenId && !summary.parent;
  };
  if (turns.activeIds().filter(isOwn).length < MOST_TURNS) return undefined;
  const message = `${MOST_TURNS} turns of your runs are going on. Wait until one has ended.`;
  return refuse('conflict', message);
}
