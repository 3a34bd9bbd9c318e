import type { ConfiguredEffect } from '../tools/room.ts';
import type { McpServerSettings } from './mcp-servers-config.ts';

/** A tool that the configuration does not name. */
const NOT_NAMED: ConfiguredEffect = { effect: 'ask', isDefault: true };

/** What the configuration says of a tool: by its whole name, else by the longest beginning of it. */
export function configuredEffectOf(
  tools: McpServerSettings['tools'],
  foreign: string,
): ConfiguredEffect {
  const whole = Object.hasOwn(tools, foreign) ? tools[foreign] : undefined;
  if (whole !== undefined) return { effect: whole };
  const [longest] = Object.entries(tools)
    .filter(([pattern]) => pattern.endsWith('*') && foreign.startsWith(pattern.slice(0, -1)))
    .toSorted(([a], [b]) => b.length - a.length);
  return longest ? { effect: longest[1] } : NOT_NAMED;
}
