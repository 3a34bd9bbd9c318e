export {
  type AgentSpans,
  beginRequestSpan,
  beginTurnTrace,
  traceparentOfTurn,
} from './agent-spans.ts';
export { logCall } from './call-parts.ts';
export {
  beginMcpRequest,
  type McpRequestSpans,
  type McpRequestTrace,
} from './mcp-request-trace.ts';
export { createMetrics } from './server-metrics.ts';
export { readTraces } from './telemetry-config.ts';
export { readTraceparent, traceparentOf } from './trace-context.ts';
export { createTracing } from './tracing.ts';
