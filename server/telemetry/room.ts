export {
  beginModelRequest,
  beginTurnTrace,
  endTurnTrace,
  traceparentOfTurn,
} from './agent-spans.ts';
export { logCall } from './call-parts.ts';
export { beginMcpRequest, type McpRequestTrace } from './mcp-request-trace.ts';
export { createMetrics } from './server-metrics.ts';
export type { Spans } from './span.ts';
export { readTraces } from './telemetry-config.ts';
export { readTraceparent, traceparentOf } from './trace-context.ts';
export { createTracing } from './tracing.ts';
