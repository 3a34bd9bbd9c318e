import type { Call } from '#lib/call/call';
import { sameJson } from '#lib/json/equal';
import type { AnyTool, ClientTool, OfferedTool } from '../tools/room.ts';

export const isClientTool = (tool: AnyTool): tool is ClientTool => tool.clientId !== null;

/** The registry finds the tool of the call by it: that of the client that was named, if one was. */
export const referenceOf = ({
  toolName,
  wantedClientId,
}: Pick<Call, 'toolName' | 'wantedClientId'>): string =>
  wantedClientId === null ? toolName : `${toolName}@${wantedClientId}`;

type Taken = Pick<Call, 'annotations' | 'timeoutMs' | 'routing'>;

/**
 * A call takes this over from the tool that it goes to (rule CR2): no other
 * client's word counts. What does not change stays the same object, so that it
 * is not written again.
 */
export function takenFrom(tool: OfferedTool, { annotations, timeoutMs, routing }: Taken): Taken {
  const { clientId: checkedForClientId, schemaHash } = tool;
  const isSame =
    schemaHash === routing.schemaHash && checkedForClientId === routing.checkedForClientId;
  return {
    annotations: sameJson(annotations, tool.annotations) ? annotations : tool.annotations,
    timeoutMs: routing.hasOwnTimeout ? timeoutMs : tool.timeoutMs,
    routing: isSame ? routing : { ...routing, checkedForClientId, schemaHash },
  };
}

/** True when a tool is not the one under which its call was offered, or is to start. */
export function hasOtherTerms(tool: OfferedTool, call: Call): boolean {
  const { approval } = call.routing;
  const { annotations, routing } = takenFrom(tool, call);
  return (
    annotations !== call.annotations ||
    routing !== call.routing ||
    (approval !== null && approval.toolHash !== tool.toolHash)
  );
}
