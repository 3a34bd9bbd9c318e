import type { CallRecord } from '#lib/call/call-record';
import { hasEnded, partsOf } from './call-parts.ts';
import { type Attributes, INTERNAL, type Span } from './span.ts';
import { parseTraceparent, spanOf, spanOfCall, type TraceContext } from './trace-context.ts';

/**
 * The spans of a call that has just ended, from its record alone (TM7, TM8); none where it ended
 * before, or its caller exports none. `now`: when the end was on disk; undefined: it is not known.
 */
export function spansOfCall(
  call: CallRecord,
  previous: CallRecord | undefined,
  now: number | undefined,
): Span[] {
  if (!hasEnded(call, previous)) return [];
  const parent = parseTraceparent(call.traceparent);
  if (parent?.isSampled === false) return [];
  const own = spanOfCall(call);
  const end = call.completedAt ?? call.createdAt;
  const span: Span = {
    ...{ traceId: own.traceId, spanId: own.spanId, parentSpanId: parent?.spanId },
    ...{ name: `execute_tool ${call.toolName}`, kind: INTERNAL, start: call.createdAt, end },
    ...{ attributes: attributesOf(call), isError: call.error !== null },
  };
  const parts = partsOf(call, end).map((part) => partSpan(call, own, part));
  const isAnswered = call.provider !== null && call.resultHash !== null;
  if (isAnswered && now !== undefined) {
    parts.push(partSpan(call, own, ['acknowledge', end, now]));
  }
  return [span, ...parts];
}

function partSpan(
  { id, card }: CallRecord,
  own: TraceContext,
  [phase, start, end]: readonly [phase: string, start: number, end: number],
): Span {
  const decision = phase === 'approval' ? card.approval_decision?.decision : undefined;
  return {
    ...{ traceId: own.traceId, spanId: spanOf(`${id} ${phase}`, own).spanId },
    ...{ parentSpanId: own.spanId, name: phase, kind: INTERNAL, start, end },
    attributes: { 'callboard.call.phase': phase, 'callboard.approval.decision': decision },
    isError: false,
  };
}

/** Neither arguments nor results, nor the words of an error: those are in the record. */
const attributesOf = (call: CallRecord): Attributes => ({
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
