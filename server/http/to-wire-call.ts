import type { WireCallRecord } from '#lib/protocol/call-record';
import type { CallRecord } from '../store/call-record.ts';

const toSeconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);

/** A call's record as HTTP tells it (contract, section 6). */
export function toWireCall(call: CallRecord): WireCallRecord {
  return {
    tool_call_id: call.id,
    run_id: call.runId,
    tool_name: call.toolName,
    source: call.source,
    status: call.status,
    phase: call.phase,
    args: call.args,
    // `undefined` would drop out of the text; a missing answer is told as null.
    result: call.result ?? null,
    error: call.error,
    attachments: [...call.attachments],
    created_at: call.createdAt / 1_000,
    completed_at: toSeconds(call.completedAt),
    client_id: call.provider?.clientId ?? null,
    attempt: call.provider?.attempt ?? 0,
    timeout_ms: call.timeoutMs,
    timings: {
      queued_at: toSeconds(call.queuedAt),
      offered_at: toSeconds(call.offeredAt),
      started_at: toSeconds(call.startedAt),
      completed_at: toSeconds(call.completedAt),
    },
    late_result: call.lateResult ?? null,
    retry_of: call.retryOf,
    card: call.card,
  };
}
