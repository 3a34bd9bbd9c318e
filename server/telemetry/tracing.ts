import type { Call } from '#lib/call/call';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { type AgentSpans, requestSpan, turnSpan } from './agent-spans.ts';
import { hasEnded, partsOf } from './call-parts.ts';
import { type Ended, ExportMark, removeMark } from './export-mark.ts';
import { type McpRequestSpans, mcpRequestSpan } from './mcp-request-trace.ts';
import type { Metric } from './prometheus.ts';
import { type Attributes, INTERNAL, type Span } from './span.ts';
import { SpanExporter } from './span-exporter.ts';
import type { TracesConfig } from './telemetry-config.ts';
import { parseTraceparent, spanOf, spanOfCall, type TraceContext } from './trace-context.ts';

const MOST_CALLS = 2_048;
const OLDEST_MS = 3_600_000;

/** The record, as what was not sent is read from it. */
interface EndedCalls {
  /** Of calls that ended then or later the newest, oldest first. */
  endedSince(query: { since: number; limit: number }): Promise<readonly Ended[]>;
  read(callId: string): Promise<Call | undefined>;
}

interface ResumeDeps {
  readonly mark: ExportMark;
  readonly ended: EndedCalls;
  readonly clock: Pick<Clock, 'now'>;
  /** Resolves when spans have room; false: none is taken any more. */
  readonly room: () => Promise<boolean>;
  readonly add: (callId: string, spans: readonly Span[]) => void;
}

/**
 * Finds the calls whose spans a crash kept from the receiver; before others end, since those have
 * theirs. Returns what sends them, as there is room.
 */
async function findUnsent(deps: ResumeDeps): Promise<() => Promise<void>> {
  const { mark, ended, clock } = deps;
  const left = await mark.read();
  const unsent: Ended[] = [];
  if (left) {
    const since = Math.max(left.before, clock.now() - OLDEST_MS);
    const sent = new Set(left.sent.map(({ id }) => id));
    const found = await ended.endedSince({ since, limit: MOST_CALLS });
    unsent.push(...found.filter(({ id }) => !sent.has(id)));
  }
  for (const call of unsent) mark.opened(call);
  await mark.save();
  return () => sendAll(deps, unsent);
}

async function sendAll({ mark, ended, room, add }: ResumeDeps, unsent: readonly Ended[]) {
  for (const { id } of unsent) {
    const call = await ended.read(id);
    const spans = call ? spansOfCall(call, undefined, undefined) : [];
    if (spans.length > 0) add(id, spans);
    else mark.settled(id);
    if (!(await room())) return;
  }
}

export interface Tracing extends AgentSpans, McpRequestSpans {
  /** Its counters; none where it is off. */
  readonly metrics: readonly Metric[];
  /** Sends what a crash kept from the receiver; before a call ends. */
  resume(): Promise<void>;
  /** Ends that, with what is being read, as long as there is a store. */
  endResume(): Promise<void>;
  /** Of each state of a call that is on disk, and the one before. */
  observe(call: Call, previous: Call | undefined): void;
  /** Sends what waits, for so long at most. */
  close(withinMs: number): Promise<void>;
}

const OFF: Omit<Tracing, 'resume'> = {
  isOn: false,
  metrics: [],
  observe() {},
  turnEnded() {},
  requestEnded() {},
  mcpRequestEnded() {},
  endResume: () => Promise.resolve(),
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
    config,
    resource,
    clock,
    logger,
    hide,
    settled: (callId) => mark?.settled(callId),
    batchEnded: () => void mark?.save(),
  });
  const add = (callId: string, spans: readonly Span[]) => {
    const last = spans.at(-1);
    for (const span of spans) exporter.add(span, span === last ? callId : undefined);
  };
  let resent: Promise<void> | undefined;
  return {
    isOn: true,
    metrics: [exporter],
    async resume() {
      if (!mark || !durable) return;
      const room = () => exporter.room();
      const send = await findUnsent({ mark, ended: durable.ended, clock, room, add });
      resent = send().catch(logger.error);
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
    async endResume() {
      exporter.makeNoRoom();
      await resent;
    },
    async close(withinMs) {
      await exporter.close(withinMs);
      await mark?.save();
    },
  };
}

/**
 * The spans of a call that has just ended, from its record alone (TM7, TM8); none where it ended
 * before, or its caller exports none. `now`: when the end was on disk; undefined: it is not known.
 */
function spansOfCall(call: Call, previous: Call | undefined, now: number | undefined): Span[] {
  if (!hasEnded(call, previous)) return [];
  const parent = parseTraceparent(call.traceparent);
  if (parent?.isSampled === false) return [];
  const own = spanOfCall(call);
  const end = call.completedAt ?? call.createdAt;
  const span: Span = {
    traceId: own.traceId,
    spanId: own.spanId,
    parentSpanId: parent?.spanId,
    name: `execute_tool ${call.toolName}`,
    kind: INTERNAL,
    start: call.createdAt,
    end,
    attributes: attributesOf(call),
    isError: call.error !== undefined,
  };
  const parts = partsOf(call, end).map((part) => partSpan(call, own, part));
  const isAnswered = call.provider !== undefined && call.resultHash !== undefined;
  if (isAnswered && now !== undefined) {
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
    traceId: own.traceId,
    spanId: spanOf(`${id} ${phase}`, own).spanId,
    parentSpanId: own.spanId,
    name: phase,
    kind: INTERNAL,
    start,
    end,
    attributes: { 'callboard.call.phase': phase, 'callboard.approval.decision': decision },
    isError: false,
  };
}

/** Neither arguments nor results, nor the words of an error: those are in the record. */
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
