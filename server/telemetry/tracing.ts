import type { CallRecord } from '#lib/call/call-record';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { type AgentSpans, requestSpan, turnSpan } from './agent-spans.ts';
import { spansOfCall } from './call-spans.ts';
import { type McpRequestSpans, mcpRequestSpan } from './mcp-request-trace.ts';
import type { Metric } from './prometheus.ts';
import { SpanExporter } from './span-exporter.ts';
import type { TracesConfig } from './telemetry-config.ts';

export interface Tracing extends AgentSpans, McpRequestSpans {
  /** Its counters; none where it is off. */
  readonly metrics: readonly Metric[];
  /** Of each state of a call that is on disk, and the one before. */
  observe(call: CallRecord, previous: CallRecord | undefined): void;
  /** Sends what waits, for so long at most. */
  close(withinMs: number): Promise<void>;
}

const OFF: Tracing = {
  ...{ isOn: false, metrics: [], observe() {}, turnEnded() {}, requestEnded() {} },
  mcpRequestEnded() {},
  close: () => Promise.resolve(),
};

export interface TracingOptions {
  readonly config: TracesConfig | undefined;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  hide(text: string): string;
}

/** Spans of calls, turns and requests to models, for the receiver that the environment names. */
export function createTracing({ config, version, clock, logger, hide }: TracingOptions): Tracing {
  if (config === undefined) return OFF;
  const resource = { ...config.resource, 'service.version': version };
  const exporter = new SpanExporter({ config, resource, clock, logger, hide });
  return {
    isOn: true,
    metrics: [exporter],
    observe(call, previous) {
      for (const span of spansOfCall(call, previous, clock.now())) exporter.add(span);
    },
    turnEnded(turn) {
      const span = turnSpan(turn, clock.now());
      if (span) exporter.add(span);
    },
    requestEnded(request) {
      const span = requestSpan(request, clock.now());
      if (span) exporter.add(span);
    },
    mcpRequestEnded(request) {
      exporter.add(mcpRequestSpan(request, clock.now()));
    },
    close: (withinMs) => exporter.close(withinMs),
  };
}
