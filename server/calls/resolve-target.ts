import { type InvokeRefusal, reject } from '#lib/call/call-outcome';
import { parseToolReference } from '#lib/protocol/tool-name';
import type { AnyTool, ToolRegistry } from '../tools/room.ts';
import type { InvokeRequest } from './call-service.ts';
import { isClientTool } from './offered-tool.ts';

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
