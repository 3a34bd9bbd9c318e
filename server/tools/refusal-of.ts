import { hasRole } from '#lib/protocol/role';
import { RUN_TOOLS } from '#lib/protocol/run-tools';
import { allowsTool } from '#lib/protocol/token-names';
import { parseToolReference } from '#lib/protocol/tool-name';
import type { Principal } from '../auth/principal.ts';

const VIEWERS_READ =
  'A viewer reads; calls are made by a person with the role "operator" or "admin".';

/**
 * Why `principal` may not call the tool, or undefined when it may. An agent's
 * allow-list has whole names, or `prefix.*` for a family; an entry never matches
 * by part of a word. A run may call what its owner may, and read its own results.
 */
export function refusalOf(principal: Principal, reference: string): string | undefined {
  const { name } = parseToolReference(reference);
  switch (principal.kind) {
    case 'run':
      // They give a run nothing that it may not have.
      if (RUN_TOOLS.has(name) && principal.owner.kind === 'agent') return undefined;
      return refusalOf(principal.owner, reference);
    case 'operator':
      return hasRole(principal.role, 'operator') ? undefined : VIEWERS_READ;
    case 'device':
      return 'A device answers calls; it cannot make calls.';
    case 'agent': {
      const allowed = principal.tools.some((entry) => allowsTool(entry, name));
      return allowed ? undefined : `The agent ${principal.name} may not call this tool.`;
    }
  }
}
