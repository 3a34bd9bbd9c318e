import type { Call } from '#lib/call/call';
import { type InvokeRefusal, reject } from '#lib/call/call-outcome';
import { sameJson } from '#lib/json/equal';
import { parseToolReference } from '#lib/protocol/tool-name';
import type { AnyTool, ClientTool, OfferedTool, ToolRegistry } from '../tools/room.ts';
import type { InvokeRequest } from './call-service.ts';

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

export interface ResolvedTool {
  readonly ok: true;
  readonly name: string;
  /** It would be asked now: the arguments are checked by its schema. */
  readonly tool: AnyTool;
  /** The only client that may be asked, if one was named. */
  readonly wantedClientId: string | null;
}

/** Which tool is meant, whether the caller may call it, and whether any executor serves it now. */
export function resolveTarget(
  registry: ToolRegistry,
  request: Pick<InvokeRequest, 'tool' | 'clientId' | 'fromClientId' | 'principal'>,
): ResolvedTool | InvokeRefusal {
  const { name, clientId: qualified } = parseToolReference(request.tool);
  const wantedClientId = request.clientId ?? qualified ?? null;
  if (!registry.mayCall(request.principal, name)) {
    return reject('permission_denied', `This token's allow-list does not hold ${name}`);
  }
  const target = registry.find(name, request.fromClientId);
  if (!target) {
    return reject(
      'tool_not_found',
      `No tool ${name} is offered now; GET /v1/tools lists those that are`,
    );
  }
  const { best: tool } = target;
  if (wantedClientId === null || !isClientTool(tool))
    return { ok: true, name, tool, wantedClientId: null };
  const wanted = registry.find(`${name}@${wantedClientId}`, request.fromClientId);
  if (!wanted) {
    return reject('no_provider', `The client ${wantedClientId} does not offer ${name} now`);
  }
  return { ok: true, name, tool: wanted.best, wantedClientId };
}
