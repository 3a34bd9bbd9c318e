import { matchTools } from './match-tools.ts';

/** What of a policy names tools. */
export interface NamingPolicy {
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  readonly rules: readonly { readonly tools?: readonly string[] | undefined }[];
  readonly limits?: readonly { readonly tools?: readonly string[] | undefined }[] | undefined;
}

/** Patterns that fit none of the tools, each once: misspelt, or of clients that are away. */
export function idlePatterns(policy: NamingPolicy, tools: readonly string[]): string[] {
  const { ask, deny, rules, limits = [] } = policy;
  const patterns = [...deny, ...ask, ...[...rules, ...limits].flatMap((one) => one.tools ?? [])];
  return [...new Set(patterns)].filter((pattern) => !tools.some(matchTools([pattern])));
}
