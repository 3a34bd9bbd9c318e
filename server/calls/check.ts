import { parseToolReference, spellingOf } from '#lib/protocol/tool-name';
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
  /**
   * Tool names, or `prefix.*`, in any case and in the spelling that models use;
   * a client after `@` does not narrow them. `deny` wins over `ask`.
   */
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/** The check that a configuration file describes; with no rules, everything is allowed. */
export function createPolicyCheck(rules: PolicyRules): Check {
  const [ask, deny] = [rules.ask, rules.deny].map(toMatcher);
  return ({ toolName }) => {
    if (deny?.(toolName)) {
      return { verdict: 'deny', reason: `The policy of this server denies ${toolName}` };
    }
    if (ask?.(toolName)) {
      return {
        verdict: 'ask',
        reason: `The policy of this server asks an operator before ${toolName}`,
        code: 'policy',
      };
    }
    return { verdict: 'allow' };
  };
}

/** One tool has many spellings, and a rule that is passed by another one is none (rule CR8). */
export function toMatcher(patterns: readonly string[]): (reference: string) => boolean {
  const toSpelling = (reference: string) => spellingOf(parseToolReference(reference).name);
  const names = new Set(patterns.filter((one) => !one.endsWith('*')).map(toSpelling));
  const prefixes = patterns
    .filter((one) => one.endsWith('*'))
    .map((one) => toSpelling(one.slice(0, -1)));
  return (reference) => {
    const spelling = toSpelling(reference);
    return names.has(spelling) || prefixes.some((prefix) => spelling.startsWith(prefix));
  };
}
