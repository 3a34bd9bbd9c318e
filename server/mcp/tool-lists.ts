import type { Agent } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { ToolRegistry } from '../tools/room.ts';
import { type McpTool, type SchemaOf, toMcpTools } from './mcp-tools.ts';

/** Between two announcements: a page that is loaded anew takes its tools away and brings them back. */
const GATHER_MS = 2_000;
/** So many clients of a pool have an entry of their own. */
const MOST_CLIENTS = 16;
/** Lists that are kept for the next call of the same agent. */
const MOST_KEPT = 64;

/** `onChanged`: when tools came, changed or went; of many changes at most once in two seconds (rule MP5). */
export function createToolLists(deps: {
  readonly registry: Pick<ToolRegistry, 'list' | 'find' | 'onChange'>;
  readonly clock: Clock;
  readonly onChanged: () => void;
}) {
  const { registry, clock, onChanged } = deps;
  const kept = new Map<string, { allowed: string; list: readonly McpTool[] }>();
  let cancel: (() => void) | undefined;
  /** A change came while the last announcement was too young. */
  let isWaiting = false;
  const announce = () => {
    isWaiting = false;
    cancel = clock.schedule(GATHER_MS, () => {
      cancel = undefined;
      if (isWaiting) announce();
    });
    onChanged();
  };
  const stop = registry.onChange(() => {
    kept.clear();
    if (cancel) isWaiting = true;
    else announce();
  });
  const schemaOf: SchemaOf = (reference) => {
    const best = registry.find(reference)?.best;
    return best && 'schema' in best ? best.schema : undefined;
  };
  return {
    /** What the agent may call now; the same array as long as nothing has changed. */
    of(agent: Agent): readonly McpTool[] {
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
