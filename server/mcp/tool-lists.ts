import type { Agent } from '../auth/principal.ts';
import type { Clock } from '../clock.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import { type McpTool, type SchemaOf, toMcpTools } from './mcp-tools.ts';

/** A page that is loaded anew takes its tools away and brings them back. */
const QUIET_MS = 2_000;
/** A client whose tools change all the time keeps no agent from those of the others. */
const LATEST_MS = 10_000;
/** So many clients of a pool have an entry of their own. */
const MOST_CLIENTS = 16;
/** Lists that are kept for the next call of the same agent. */
const MOST_KEPT = 64;

export interface ToolLists {
  /** What the agent may call now; the same array as long as nothing has changed. */
  of(agent: Agent): readonly McpTool[];
  stop(): void;
}

/** `onChanged`: once tools that came, changed or went are left alone, or have not been for long (rule MP5). */
export function createToolLists(deps: {
  readonly registry: Pick<ToolRegistry, 'list' | 'find' | 'onChange'>;
  readonly clock: Clock;
  readonly onChanged: () => void;
}): ToolLists {
  const { registry, clock, onChanged } = deps;
  const kept = new Map<string, { allowed: string; list: readonly McpTool[] }>();
  let cancel: (() => void) | undefined;
  /** Of the first change that is not announced. */
  let changedAt: number | undefined;
  const stop = registry.onChange(() => {
    kept.clear();
    cancel?.();
    changedAt ??= clock.now();
    const left = Math.max(0, changedAt + LATEST_MS - clock.now());
    cancel = clock.schedule(Math.min(QUIET_MS, left), () => {
      changedAt = undefined;
      onChanged();
    });
  });
  const schemaOf: SchemaOf = (reference) => {
    const best = registry.find(reference)?.best;
    return best && 'schema' in best ? best.schema : undefined;
  };
  return {
    of(agent) {
      const allowed = agent.tools.join(' ');
      const known = kept.get(agent.tokenId);
      if (known?.allowed === allowed) return known.list;
      const list = toMcpTools(registry.list(agent, null, MOST_CLIENTS), schemaOf);
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(agent.tokenId, { allowed, list });
      return list;
    },
    stop() {
      stop();
      cancel?.();
    },
  };
}
