import { boundCard, cutLarge } from '#lib/call/bound-card';
import type { Call } from '#lib/call/call';
import type { PublishedEvent } from '#lib/call/call-event';
import type { ListedCall, WireCallEvent, WireCallRecord } from '#lib/protocol/call-record';
import { given } from '#lib/util/given';

const toSeconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);

/** A call's record as HTTP sends it (contract, section 6). */
export function toWireCall(call: Call): WireCallRecord {
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
    ...given({ model_call_id: call.modelCallId }),
    card: call.card,
  };
}

/** `isForPeople`: with the tokens and addresses of those who acted. */
export const toWireEvent = (
  { version, type, at, actor, via, attempt, update }: PublishedEvent,
  isForPeople: boolean,
): WireCallEvent => ({
  ...{ version, type, at: at / 1_000, actor, attempt, update },
  ...(via && isForPeople ? { via: { token_id: via.tokenId, address: via.address } } : {}),
});

/** What a list may be asked to hold whole. */
export type Included = 'args' | 'result';

/** A call as a list has it: of what is over the limit, and was not asked for, the beginning. */
export function toListedCall(call: Call, include: readonly Included[]): ListedCall {
  const wire = { ...toWireCall(call), card: boundCard(call.card) };
  const listed: ListedCall = include.includes('args') ? wire : withShortArgs(wire);
  return include.includes('result') ? listed : withShortResults(listed);
}

function withShortArgs(call: ListedCall): ListedCall {
  if (!cutLarge(call.args)) return call;
  // The card shows the same arguments, and has cut them already.
  const { params = {}, params_bytes } = boundCard({ params: call.args });
  return { ...call, args: params, args_bytes: params_bytes ?? 0, truncated: true };
}

/** All that a tool gave: to the model, and to people. */
function withShortResults(call: ListedCall): ListedCall {
  const short = { ...call };
  for (const name of ['result', 'display', 'preview', 'late_result'] as const) {
    const cut = cutLarge(call[name]);
    if (!cut) continue;
    short[name] = cut.preview;
    short[`${name}_bytes`] = cut.bytes;
    short.truncated = true;
  }
  return short;
}
