import type { AutonomyLevel } from '#lib/policy/autonomy';
import type { PolicyDecision } from '#lib/policy/decide-policy';
import type { PolicyDefinition } from '#lib/policy/policy-definition';
import type { PolicyQuestion } from '#lib/policy/policy-question';
import type { HookState } from '#lib/policy/policy-wire';
import type { ErrorDetail } from '#lib/protocol/http-error';
import type { Principal } from '../auth/room.ts';

export interface AutonomyState {
  /** For all runs that have none of their own. */
  readonly level: AutonomyLevel;
  /** `setAt` is in milliseconds since the epoch. */
  readonly runs: readonly { runId: string; level: AutonomyLevel; setAt: number }[];
}

export interface PolicyState {
  /** The one that counts. */
  readonly definition: PolicyDefinition;
  /** The configuration file; null: there was none. */
  readonly file: string | null;
  /** Milliseconds since the epoch. */
  readonly loadedAt: number;
  /** Why the file as it is now does not count; null: it does. */
  readonly problem: string | null;
  readonly autonomy: AutonomyState;
  readonly hooks: readonly HookState[];
}

/** A limit for one call, and what is left of it. */
export interface LimitLeft {
  readonly limit: string;
  /** Calls that may be made now. */
  readonly left: number;
  /** Seconds until one more; 0 while one is left. */
  readonly retryAfter: number;
}

export interface DryRunRequest {
  /** `name` or `name@client`. */
  readonly tool: string;
  readonly args: unknown;
  readonly caller: PolicyQuestion['caller'];
  readonly via: PolicyQuestion['via'];
  /** The level of this one counts, else that for all. */
  readonly runId: string | undefined;
  /** To be tried in place of the one that counts. */
  readonly policy: PolicyDefinition | undefined;
}

export type DryRunOutcome =
  | {
      readonly ok: true;
      readonly question: PolicyQuestion;
      readonly decision: PolicyDecision;
      readonly limits: readonly LimitLeft[];
    }
  | {
      readonly ok: false;
      readonly code: 'tool_not_found' | 'invalid_args';
      readonly message: string;
      readonly details?: readonly ErrorDetail[];
    };

/** What may be called, as people see and try it. */
export interface PolicyService {
  state(): PolicyState;
  /**
   * For all without a run. `level` null: the run has none of its own any more. Resolves when it is on
   * disk, or was refused.
   */
  setAutonomy(
    by: Principal,
    level: AutonomyLevel | null,
    runId: string | null,
  ): Promise<'set' | 'not_permitted' | 'too_many'>;
  /** What would become of a call. Nothing is called, counted or kept. */
  dryRun(request: DryRunRequest): Promise<DryRunOutcome>;
}
