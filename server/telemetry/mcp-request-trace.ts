import { randomUUID } from 'node:crypto';
import { SERVER, type Spans, spanIds } from './span.ts';
import {
  formatTraceparent,
  parseTraceparent,
  readTraceparent,
  spanOf,
  spanOfCall,
  type TraceContext,
  type TracedCall,
} from './trace-context.ts';

/** A request is known by this before it is answered. Values of the caller are of any shape. */
export interface McpRequest {
  readonly method: string;
  readonly id: string | number;
  /** `params.name` of `tools/call`. */
  readonly tool: unknown;
  /** `params._meta.traceparent` and `tracestate`. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Pick<Headers, 'get'> | undefined;
  readonly sessionId: string | undefined;
}

export type McpOutcome = { readonly isError: boolean } | { readonly rpcCode: number };

export type McpRequestTrace = ReturnType<typeof beginMcpRequest>;

/** One request while it is answered (TM30 to TM33). `now`: milliseconds since the epoch. */
export function beginMcpRequest(spans: Pick<Spans, 'add'>, request: McpRequest, now: number) {
  const cameIn = readTraceparent(request.meta?.traceparent);
  const parent = parseTraceparent(cameIn);
  const own = spanOf(randomUUID(), parent);
  /** The call that it made, or asked about. */
  let call: TracedCall | undefined;
  return {
    /** A call that the request makes stands below this. */
    traceparent: cameIn ?? formatTraceparent(own),
    concerns(one: TracedCall): void {
      call = one;
    },
    end(outcome: McpOutcome): void {
      if (parent?.isSampled === false) return;
      const ids = spanIds(own, parent);
      spans.add({ ...ids, kind: SERVER, start: now, ...factsOf(request, outcome, call) });
    },
  };
}

/** Other texts are words of the caller: no tool has such a name (MP2). */
const TOOL = /^[A-Za-z0-9_-]{1,48}$/;

function factsOf(request: McpRequest, outcome: McpOutcome, call: TracedCall | undefined) {
  const { method, headers, tool: asked } = request;
  const tool = typeof asked === 'string' && TOOL.test(asked) ? asked : undefined;
  const rpcCode = 'rpcCode' in outcome ? String(outcome.rpcCode) : undefined;
  const errorType = rpcCode ?? ('isError' in outcome && outcome.isError ? 'tool_error' : undefined);
  const linked = [parseTraceparent(headers?.get('traceparent')), call && exportedSpanOf(call)];
  return {
    name: tool === undefined ? method : `${method} ${tool}`,
    isError: errorType !== undefined,
    attributes: {
      'mcp.method.name': method,
      'mcp.protocol.version': headers?.get('mcp-protocol-version') ?? undefined,
      'mcp.session.id': request.sessionId,
      'jsonrpc.request.id': String(request.id),
      'rpc.response.status_code': rpcCode,
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'gen_ai.operation.name': method === 'tools/call' ? 'execute_tool' : undefined,
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': call?.id,
      'error.type': errorType,
    },
    links: linked.flatMap((one) => (one ? [{ traceId: one.traceId, spanId: one.spanId }] : [])),
  };
}

const exportedSpanOf = (call: TracedCall): TraceContext | undefined =>
  parseTraceparent(call.traceparent)?.isSampled === false ? undefined : spanOfCall(call);
