import type { ServerContext } from '@modelcontextprotocol/server';
import { isRecord } from '#lib/json/is-record';
import { TASKS } from '#lib/protocol/mcp-tasks';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** What a handler needs to know of its request, beside the parameters. */
export interface AskedRequest {
  readonly mcpReq: Pick<ServerContext['mcpReq'], 'id' | 'signal' | '_meta' | 'envelope' | 'notify'>;
}

/** What the client can do, as this request declares it: in 2026-07-28 each does. */
export function capabilitiesOf({ mcpReq }: AskedRequest): Readonly<Record<string, unknown>> {
  const envelope: unknown = mcpReq.envelope;
  const capabilities = isRecord(envelope) ? envelope[CAPABILITIES] : undefined;
  return isRecord(capabilities) ? capabilities : {};
}

/** Whether the client of this request takes a task in place of a result. */
export function takesTasks(request: AskedRequest): boolean {
  const { extensions } = capabilitiesOf(request);
  return isRecord(extensions) && TASKS in extensions;
}
