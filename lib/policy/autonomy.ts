import { AUTONOMY_LEVELS, type AutonomyLevel } from '../protocol/autonomy-level.ts';
import type { PolicyDecision, PolicyQuestion } from './decide-policy.ts';

export { AUTONOMY_LEVELS, type AutonomyLevel };

/** Where `read_only` is for all, no run has more; else a run's own level counts. */
export const levelOfRun = (all: AutonomyLevel, own: AutonomyLevel | undefined): AutonomyLevel =>
  all === 'read_only' ? all : (own ?? all);

/** Applies the level to what the rules decided: more autonomy never weakens a denial. */
export function withAutonomy(
  level: AutonomyLevel,
  decision: PolicyDecision,
  { access, toolName }: PolicyQuestion,
): PolicyDecision {
  if (level === 'supervised' || decision.effect === 'deny') return decision;
  if (level === 'full') {
    const { onlyReads: _, ...free } = decision;
    if (decision.effect === 'allow' || decision.taint) return free;
    const reason = `The autonomy is full, so nothing is asked; else: ${decision.reason}`;
    return { ...free, effect: 'allow', reason, code: null };
  }
  if (access === 'read') return { ...decision, isOfExecutor: true };
  return {
    effect: 'deny',
    rule: 'autonomy',
    reason: `The autonomy is read_only, and ${toolName} has effects; an operator can switch it`,
    code: null,
    isOfExecutor: true,
  };
}
