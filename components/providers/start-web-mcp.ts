import { readModelContext } from '#lib/client/web-mcp/model-context';
import { createPublisher, type OwnTool } from '#lib/client/web-mcp/publish-tools';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { InvokeAccepted } from '#lib/protocol/rest';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { randomId } from '#lib/util/random-id';
import type { Workbench } from './workbench-context.tsx';

/** One hold of the server; it is asked again until the call has ended. */
const WAIT_MS = 25_000;

/** Calls of one page are one run, so that its reads count together. */
const run = `run_webmcp_${randomId()}`;

/**
 * Offers this tab's tools to the agent of its browser (WebMCP), until the returned function is
 * called. A call goes to the server, as that of a program: it is recorded, shown and asked about
 * like any other, and runs in this tab.
 */
export function startWebMcp(workbench: Workbench): () => void {
  const context = readModelContext(document);
  if (!context) return () => {};
  const publisher = createPublisher({
    context,
    call: (tool, args, signal) => callByServer(workbench, tool, args, signal),
    warn: (problem) => console.warn(`callboard: ${problem}`),
  });
  const { listings, tab } = workbench;
  const publish = () => publisher.publish(ownTools(listings.getState().tools, tab.getState()));
  publish();
  const ends = [listings.subscribe(publish), tab.subscribe(publish)];
  return () => {
    for (const end of ends) end();
    publisher.stop();
  };
}

function ownTools(
  tools: readonly ToolListing[],
  { clientId, status }: { readonly clientId: string | null; readonly status: string },
): OwnTool[] {
  if (status !== 'registered') return [];
  return tools
    .filter((tool) => tool.callable && tool.clients.some(({ client_id }) => client_id === clientId))
    .map(({ name, display_name: title, description, schema, annotations }) => ({
      name,
      title,
      description,
      schema,
      isReadOnly: annotations?.readOnlyHint === true,
    }));
}

/** What the tool gave, as text. Rejects with the reason of a call that failed, or was not made. */
async function callByServer(
  { api, tab }: Workbench,
  tool: string,
  args: unknown,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { clientId, instanceId } = tab.getState();
  // The tabs of a browser are one client; this one is the asking one of them.
  const here = { client: clientId, client_id: clientId, instance_id: instanceId };
  const started = await api.request<InvokeAccepted>({
    method: 'POST',
    path: `/v1/tools/${encodeURIComponent(tool)}/invoke`,
    body: { run_id: run, args: args ?? {}, by: 'program', ...here },
  });
  if (!started.ok) throw new Error(started.message);
  const { tool_call_id: id } = started.value;
  // Then it ends, as cancelled.
  const cancel = () => void api.cancelCall(id);
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted) cancel();
  const path = `/v1/tool_calls/${encodeURIComponent(id)}?wait_ms=${WAIT_MS}`;
  for (;;) {
    const answer = await api.request<WireCallRecord>({ method: 'GET', path });
    if (!answer.ok) throw new Error(answer.message);
    if (isFinalStatus(answer.value.status)) return textOf(answer.value);
  }
}

function textOf({ status, result, error }: WireCallRecord): string {
  if (status !== 'SUCCEEDED') throw new Error(error?.message ?? status);
  return typeof result === 'string' ? result : JSON.stringify(result);
}
