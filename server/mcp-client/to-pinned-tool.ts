import type { DeviceTool } from '#lib/protocol/device';
import { given } from '#lib/util/given';
import type { CheckedTool } from '../tools/room.ts';

/** All that is shown of a tool, with its hash. How long it may run is a matter of the configuration. */
export function toPinnedTool(tool: CheckedTool): DeviceTool {
  const { name, description, schema, displayName, annotations, toolHash } = tool;
  return {
    ...{ name, description, parameters: { ...schema }, hash: toolHash },
    ...given({ display_name: displayName }),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  };
}
