export {
  type AgentSpans,
  beginRequestSpan,
  beginTurnTrace,
  traceparentOfTurn,
} from './agent-spans.ts';
export { createCallMetrics } from './call-metrics.ts';
export { logCall } from './call-parts.ts';
export {
  beginMcpRequest,
  type McpRequestSpans,
  type McpRequestTrace,
} from './mcp-request-trace.ts';
export {
  createDeliveryMetrics,
  createHttpMetrics,
  createSocketMetrics,
  createStoreMetrics,
} from './part-metrics.ts';
export type { Metric } from './prometheus.ts';
export { countByKind, createServerMetrics, type MeasuredServer } from './server-metrics.ts';
export { readTraces, type TracesConfig } from './telemetry-config.ts';
export { readTraceparent, traceparentOf } from './trace-context.ts';
export { createTracing } from './tracing.ts';
