import { parseToolReference } from '#lib/protocol/tool-name';
import type { Principal } from '../auth/principal.ts';

/**
 * Why `principal` may not call the tool, or undefined when it may. An agent's
 * allowlist has whole names, or `prefix.*` for a family; an entry never matches
 * by part of a word.
 */
export function refusalOf(principal: Principal, reference: string): string | undefined {
  const { name } = parseToolReference(reference);
  switch (principal.kind) {
    case 'operator':
      return undefined;
    case 'device':
      return 'A device answers calls; it cannot make calls.';
    case 'agent': {
      const allowed = principal.tools.some(
        (entry) => entry === name || (entry.endsWith('.*') && name.startsWith(entry.slice(0, -1))),
      );
      return allowed ? undefined : `The agent ${principal.name} may not call this tool.`;
    }
  }
}
