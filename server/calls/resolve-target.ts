import type { CallRecord } from '#lib/call/call-record';
import { parseToolReference } from '#lib/protocol/tool-name';
import type { OfferedTool, ToolRegistry } from '../tools/tool-registry.ts';
import type { InvokeRefusal, InvokeRequest } from './call-service.ts';
import { isServerTool } from './offered-tool.ts';

export interface ResolvedTool {
  readonly ok: true;
  readonly name: string;
  /** Of the one that would be asked now: the arguments are checked by its schema. */
  readonly tool: OfferedTool;
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
  if (target.source === 'server') return { ok: true, name, tool: target, wantedClientId: null };
  const wanted = wantedClientId === null ? target : registry.find(`${name}@${wantedClientId}`);
  if (wanted?.source !== 'client') {
    return reject('no_provider', `The client ${wantedClientId} does not offer ${name} now`);
  }
  return { ok: true, name, tool: wanted.best, wantedClientId };
}

export const sourceOf = (tool: OfferedTool): Pick<CallRecord, 'source' | 'toolProvider'> =>
  isServerTool(tool)
    ? { source: 'server', toolProvider: 'server' }
    : { source: 'client', toolProvider: 'clients' };

export const reject = (code: InvokeRefusal['code'], message: string): InvokeRefusal => ({
  ok: false,
  code,
  message,
});
