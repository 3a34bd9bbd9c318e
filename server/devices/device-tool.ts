import { hash } from 'node:crypto';
import type { DeviceTool } from '#lib/protocol/device';
import { given } from '#lib/util/given';
import type { CheckedSpec, CheckedTool } from '../tools/room.ts';

/** What a person allows: all that is shown of the tool, and how long it may run. */
const hashOf = ({ toolHash, timeoutMs }: CheckedTool): string =>
  hash('sha256', `${toolHash} ${timeoutMs}`, 'base64url');

export function toDeviceTool(tool: CheckedTool): DeviceTool {
  const { name, description, schema, timeoutMs, displayName, annotations } = tool;
  return {
    ...{ name, description, parameters: { ...schema }, timeout_ms: timeoutMs },
    ...given({ display_name: displayName }),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    hash: hashOf(tool),
  };
}

/** Those that are right by themselves, each name once. */
export const toDeviceTools = (checked: readonly CheckedSpec[]): DeviceTool[] => [
  ...new Map(
    checked.flatMap((one) => (one.ok ? [[one.tool.name, toDeviceTool(one.tool)]] : [])),
  ).values(),
];
