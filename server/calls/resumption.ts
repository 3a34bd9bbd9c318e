import type { Call } from '#lib/call/call';
import type { ToolProvider, ToolRegistry } from '../tools/room.ts';
import { isClientTool, referenceOf } from './offered-tool.ts';

/** What takes up a call that ran when the server stopped, where its work goes on outside. */
export function resumptionOf(
  registry: Pick<ToolRegistry, 'find'>,
  call: Call,
): ReturnType<NonNullable<ToolProvider['resume']>> {
  const tool = registry.find(referenceOf(call), call.routing.fromClientId)?.best;
  if (!tool || isClientTool(tool) || tool.origin.toolProvider !== call.toolProvider)
    return undefined;
  return tool.provider.resume?.(call.id);
}
