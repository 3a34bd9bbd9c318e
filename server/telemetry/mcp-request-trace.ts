import { randomUUID } from 'node:crypto';
import { SERVER, type Span, spanIds } from './span.ts';
import {
  formatTraceparent,
  parseTraceparent,
  readTraceparent,
  spanOf,
  spanOfCall,
  type TraceContext,
  type TracedCall,
} from './trace-context.ts';

/** Where requests of MCP become spans. */
export interface McpRequestSpans {
  /** Off: no request costs anything. */
  readonly isOn: boolean;
  mcpRequestEnded(request: EndedMcpRequest): void;
}

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

export interface EndedMcpRequest extends McpRequest {
  /** Its own span. */
  readonly span: TraceContext;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly outcome: McpOutcome;
  /** The call that it made, or asked about. */
  readonly call: TracedCall | undefined;
}

/** One request while it is answered (TM30 to TM33). */
export interface McpRequestTrace {
  /** A call that the request makes stands below this. */
  readonly traceparent: string | undefined;
  concerns(call: TracedCall): void;
  end(outcome: McpOutcome): void;
}

export function beginMcpRequest(
  spans: McpRequestSpans,
  request: McpRequest,
  now: number,
): McpRequestTrace {
  const cameIn = readTraceparent(request.meta?.traceparent);
  const parent = parseTraceparent(cameIn);
  const span = spanOf(randomUUID(), parent);
  const isExported = parent?.isSampled !== false;
  let call: TracedCall | undefined;
  return {
    traceparent: cameIn ?? formatTraceparent(span),
    concerns(one) {
      call = one;
    },
    end(outcome) {
      if (isExported) spans.mcpRequestEnded({ ...request, span, startedAt: now, outcome, call });
    },
  };
}

/** Other texts are words of the caller: no tool has such a name (MP2). */
const TOOL = /^[A-Za-z0-9_-]{1,48}$/;

export function mcpRequestSpan(request: EndedMcpRequest, now: number): Span {
  const { method, span, startedAt, outcome, call, headers } = request;
  const { tool: asked } = request;
  const tool = typeof asked === 'string' && TOOL.test(asked) ? asked : undefined;
  const rpcCode = 'rpcCode' in outcome ? String(outcome.rpcCode) : undefined;
  const errorType = rpcCode ?? ('isError' in outcome && outcome.isError ? 'tool_error' : undefined);
  const linked = [parseTraceparent(headers?.get('traceparent')), call && exportedSpanOf(call)];
  return {
    ...spanIds(span, parseTraceparent(request.meta?.traceparent)),
    name: tool === undefined ? method : `${method} ${tool}`,
    kind: SERVER,
    start: startedAt,
    end: now,
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
