import type { WireCallRecord } from '../protocol/call-record.ts';
import { given } from '../util/given.ts';
import type { Call } from './call.ts';

const toSeconds = (ms: number | undefined): number | null => (ms === undefined ? null : ms / 1_000);

/**
 * A call's record as HTTP sends it (contract, section 6): of each phase the same fields, null where
 * the call has none yet.
 */
export function toRecord(call: Call): WireCallRecord {
  return {
    tool_call_id: call.id,
    run_id: call.runId,
    tool_name: call.toolName,
    source: call.source,
    ...given({ trusted: call.trusted }),
    status: call.status,
    phase: call.phase,
    args: call.args,
    // `undefined` would drop out of the text; a missing result is sent as null.
    result: call.result ?? null,
    // One that is null was given all the same.
    ...given({ display: call.display, preview: call.preview }),
    error: call.error ?? null,
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
    ...given({ model_call_id: call.modelCallId }),
    card: call.card,
  };
}
