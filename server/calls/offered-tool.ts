import type { CallRecord } from '#lib/call/call-record';
import { sameJson } from '#lib/json/equal';
import type { CardUpdate } from '#lib/protocol/card';
import type { ClientTool, OfferedTool, ServerToolEntry } from '../tools/tool-registry.ts';

export const isServerTool = (tool: OfferedTool): tool is ServerToolEntry => tool.clientId === null;
export const isClientTool = (tool: OfferedTool): tool is ClientTool => !isServerTool(tool);

type Taken = Pick<CallRecord, 'annotations' | 'timeoutMs' | 'routing'>;

/**
 * What a call takes over from the tool that it goes to (rule CR2): no other
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

type Facts = (instanceId: string) => { readonly name: string } | undefined;

/** How a card names the client of a tool; nothing for the server's own. */
export function shownClient(
  tool: OfferedTool,
  facts: Facts,
): Pick<CardUpdate, 'client_id' | 'client_name'> {
  if (!isClientTool(tool)) return {};
  const name = facts(tool.instanceId)?.name;
  return { client_id: tool.clientId, ...(name === undefined ? {} : { client_name: name }) };
}
