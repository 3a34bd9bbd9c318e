import type { Principal } from '../auth/principal.ts';

export type CheckVerdict =
  | { readonly verdict: 'allow' }
  | { readonly verdict: 'ask'; readonly reason: string; readonly code?: 'policy' }
  | { readonly verdict: 'deny'; readonly reason: string };

export interface CheckRequest {
  readonly principal: Principal;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly runId: string;
}

/**
 * May this call be made? The one seam for policy, hooks and approvals. It sees
 * arguments that were checked and mended, and it decides before anything runs.
 */
export type Check = (request: CheckRequest) => CheckVerdict;

export interface PolicyRules {
  /** Tool names, or `prefix.*`. `deny` wins over `ask`. */
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/** The check that a configuration file describes; with no rules, everything is allowed. */
export function createPolicyCheck(rules: PolicyRules): Check {
  const matches = (patterns: readonly string[], name: string) =>
    patterns.some((pattern) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name,
    );
  return ({ toolName }) => {
    if (matches(rules.deny, toolName)) {
      return { verdict: 'deny', reason: `The policy of this server denies ${toolName}` };
    }
    if (matches(rules.ask, toolName)) {
      return {
        verdict: 'ask',
        reason: `The policy of this server asks an operator before ${toolName}`,
        code: 'policy',
      };
    }
    return { verdict: 'allow' };
  };
}
