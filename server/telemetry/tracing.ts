import type { Call } from '#lib/call/call';
import { hasEnded, partsOf } from './call-parts.ts';
import type { Metric } from './prometheus.ts';
import { type Attributes, INTERNAL, type Span, type Spans, spanIds } from './span.ts';
import { SpanExporter, type SpanExporterDeps } from './span-exporter.ts';
import type { TracesConfig } from './telemetry-config.ts';
import { parseTraceparent, spanOf, spanOfCall, type TraceContext } from './trace-context.ts';

export interface Tracing extends Spans {
  /** Its counters; none where it is off. */
  readonly metrics: readonly Metric[];
  /** Takes each state of a call that is on disk, and the one before. */
  observe(call: Call, previous: Call | undefined): void;
  /** Sends what waits, for so long at most. */
  close(withinMs: number): Promise<void>;
}

const OFF: Tracing = {
  isOn: false,
  metrics: [],
  add() {},
  observe() {},
  close: () => Promise.resolve(),
};

export interface TracingOptions extends Omit<SpanExporterDeps, 'config' | 'resource'> {
  readonly config: TracesConfig | undefined;
  readonly version: string;
}

/** Spans of calls, turns and requests to models, for the receiver that the environment names. */
export function createTracing({ config, version, ...deps }: TracingOptions): Tracing {
  if (config === undefined) return OFF;
  const resource = { ...config.resource, 'service.version': version };
  const exporter = new SpanExporter({ ...deps, config, resource });
  return {
    isOn: true,
    metrics: [exporter],
    add: (span) => exporter.add(span),
    observe(call, previous) {
      const spans = spansOfCall(call, previous, deps.clock.now());
      for (const span of spans) exporter.add(span);
    },
    close: (withinMs) => exporter.close(withinMs),
  };
}

/**
 * The spans of a call that has just ended, from its record alone (TM7, TM8); none where it ended
 * before, or its caller exports none. Its end is on disk since `now`.
 */
function spansOfCall(call: Call, previous: Call | undefined, now: number): Span[] {
  if (!hasEnded(call, previous)) return [];
  const parent = parseTraceparent(call.traceparent);
  if (parent?.isSampled === false) return [];
  const own = spanOfCall(call);
  const end = call.completedAt ?? call.createdAt;
  const span: Span = {
    ...spanIds(own, parent),
    name: `execute_tool ${call.toolName}`,
    kind: INTERNAL,
    start: call.createdAt,
    end,
    attributes: attributesOf(call),
    isError: call.error !== undefined,
  };
  const parts = partsOf(call, end).map((part) => partSpan(call, own, part));
  if (call.provider !== undefined && call.resultHash !== undefined) {
    parts.push(partSpan(call, own, ['acknowledge', end, now]));
  }
  return [span, ...parts];
}

function partSpan(
  { id, card }: Call,
  own: TraceContext,
  [phase, start, end]: readonly [phase: string, start: number, end: number],
): Span {
  const decision = phase === 'approval' ? card.approval_decision?.decision : undefined;
  return {
    ...spanIds(spanOf(`${id} ${phase}`, own), own),
    name: phase,
    kind: INTERNAL,
    start,
    end,
    attributes: { 'callboard.call.phase': phase, 'callboard.approval.decision': decision },
    isError: false,
  };
}

/** Arguments, results and the words of an error are in the record alone. */
const attributesOf = (call: Call): Attributes => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': call.toolName,
  'gen_ai.tool.call.id': call.id,
  'gen_ai.tool.type': call.source === 'client' ? 'function' : 'extension',
  'gen_ai.conversation.id': call.runId,
  'error.type': call.error?.code,
  'callboard.executed': call.error?.executed,
  'callboard.source': call.source,
  'callboard.requested_by': call.requestedBy,
  'callboard.client.id': call.provider?.clientId,
  'callboard.attempt': call.provider?.attempt,
});
