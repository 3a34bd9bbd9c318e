import { parseToolReference, spellingOf } from '../protocol/tool-name.ts';

/** What the spellings of one tool have in common, without a client after `@`. */
export const toolSpelling = (reference: string): string =>
  spellingOf(parseToolReference(reference).name);

/** A tool has many spellings, and a rule that another spelling passes by is none (rule CR8). */
export function matchTools(patterns: readonly string[]): (reference: string) => boolean {
  const matches = matchSpellings(patterns);
  return (reference) => matches(toolSpelling(reference));
}

/** The same for what `toolSpelling` made of it, where many ask about one tool. */
export function matchSpellings(patterns: readonly string[]): (spelling: string) => boolean {
  const names = new Set(patterns.filter((one) => !one.endsWith('*')).map(toolSpelling));
  const prefixes = patterns
    .filter((one) => one.endsWith('*'))
    .map((one) => toolSpelling(one.slice(0, -1)));
  return (spelling) =>
    names.has(spelling) || prefixes.some((prefix) => spelling.startsWith(prefix));
}

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
