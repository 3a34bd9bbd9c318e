export {
  type AgentSpans,
  beginRequestSpan,
  beginTurnTrace,
  traceparentOfTurn,
} from './agent-spans.ts';
export { logCall } from './call-log.ts';
export { createCallMetrics } from './call-metrics.ts';
export { createDeliveryMetrics } from './delivery-metrics.ts';
export { createHttpMetrics } from './http-metrics.ts';
export {
  beginMcpRequest,
  type McpRequestSpans,
  type McpRequestTrace,
} from './mcp-request-trace.ts';
export { createSocketMetrics, createStoreMetrics } from './part-metrics.ts';
export type { Metric } from './prometheus.ts';
export { countByKind, createServerMetrics, type MeasuredServer } from './server-metrics.ts';
export { readTraces, type TracesConfig } from './telemetry-config.ts';
export { readTraceparent, traceparentOf } from './trace-context.ts';
export { createTracing } from './tracing.ts';
