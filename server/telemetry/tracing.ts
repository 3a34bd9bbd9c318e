import type { CallRecord } from '#lib/call/call-record';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { type AgentSpans, requestSpan, turnSpan } from './agent-spans.ts';
import { spansOfCall } from './call-spans.ts';
import { ExportMark, removeMark } from './export-mark.ts';
import { type McpRequestSpans, mcpRequestSpan } from './mcp-request-trace.ts';
import type { Metric } from './prometheus.ts';
import { type EndedCalls, findUnsent } from './resume-export.ts';
import type { Span } from './span.ts';
import { SpanExporter } from './span-exporter.ts';
import type { TracesConfig } from './telemetry-config.ts';

export interface Tracing extends AgentSpans, McpRequestSpans {
  /** Its counters; none where it is off. */
  readonly metrics: readonly Metric[];
  /** Sends what a crash kept from the receiver; before a call ends. */
  resume(): Promise<void>;
  /** Of each state of a call that is on disk, and the one before. */
  observe(call: CallRecord, previous: CallRecord | undefined): void;
  /** Sends what waits, for so long at most. */
  close(withinMs: number): Promise<void>;
}

const OFF: Omit<Tracing, 'resume'> = {
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
  /** Without it what waits is lost in a crash. */
  readonly durable?: { readonly file: string; readonly ended: EndedCalls };
}

/** Spans of calls, turns and requests to models, for the receiver that the environment names. */
export function createTracing(options: TracingOptions): Tracing {
  const { config, version, clock, logger, hide, durable } = options;
  if (config === undefined) {
    return { ...OFF, resume: async () => durable && removeMark(durable.file, logger) };
  }
  const resource = { ...config.resource, 'service.version': version };
  const mark = durable && new ExportMark({ file: durable.file, now: clock.now, logger });
  const exporter = new SpanExporter({
    ...{ config, resource, clock, logger, hide },
    settled: (callId) => mark?.settled(callId),
    batchEnded: () => void mark?.save(),
  });
  const add = (callId: string, spans: readonly Span[]) => {
    const last = spans.at(-1);
    for (const span of spans) exporter.add(span, span === last ? callId : undefined);
  };
  return {
    isOn: true,
    metrics: [exporter],
    async resume() {
      if (!mark || !durable) return;
      const room = () => exporter.room();
      const send = await findUnsent({ mark, ended: durable.ended, clock, room, add });
      send().catch(logger.error);
    },
    observe(call, previous) {
      const spans = spansOfCall(call, previous, clock.now());
      if (spans.length === 0) return;
      mark?.opened({ id: call.id, endedAt: call.completedAt ?? call.createdAt });
      add(call.id, spans);
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
    async close(withinMs) {
      await exporter.close(withinMs);
      await mark?.save();
    },
  };
}
