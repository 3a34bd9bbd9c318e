import { CLOCKS, LIMITS } from '#lib/protocol/limits';
import type { ToolProvider } from './tool-provider.ts';
import type { ClientTool, InsideTool } from './tool-registry.ts';

/** Until the last client has taken its call, and its answer is written. */
const BESIDE_TOOL_MS = CLOCKS.queueMs + 5_000;

/**
 * `name@all`: the tool of the pool whose `best` would be asked first, run by asking each client of
 * it (TR60). It has the schema and the hints of that pool, and does nothing by itself.
 */
export function toToolOfAll(best: ClientTool, provider: ToolProvider): InsideTool {
  const { clientId: _, instanceId: __, key: ___, bytes: ____, ...tool } = best;
  const timeoutMs = Math.min(tool.timeoutMs + BESIDE_TOOL_MS, LIMITS.maxTimeoutMs);
  const inside = { provider, origin: provider.origin, clientId: null, instanceId: null };
  return { ...tool, ...inside, timeoutMs, decidedBelow: true };
}
