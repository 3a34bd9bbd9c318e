import type { Call } from '#lib/call/call';
import type { CallEventEntry } from '#lib/call/call-event';
import { BARE_CALL } from '#lib/call/new-call';
import { isUntrustedResult } from '#lib/call/untrusted-result';
import { estimateJsonBytes } from '#lib/json/measure-json';
import { isImage } from '#lib/protocol/attachment';
import type { CallStatus } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import type { CallRow } from './tables.ts';

/** A call as its rows in the log make it. */
export interface LoggedCall {
  readonly call: Omit<Call, 'card'>;
  /** People were shown this beside what follows from the call. */
  readonly facts: CardUpdate;
  readonly entries: readonly CallEventEntry[];
  /** The bytes of its rows. */
  readonly bytes: number;
}

/** Makes no card, which is most of the work of `foldEvents`: rows and words need none. */
export function toLoggedCall(entries: readonly CallEventEntry[], bytes: number): LoggedCall {
  const call: Partial<Call> = { ...BARE_CALL, attachments: [] };
  let facts: CardUpdate = {};
  for (const { patch, card, shown } of entries) {
    Object.assign(call, card && BARE_CALL, patch);
    if (card || shown) facts = { ...facts, ...card, ...shown };
  }
  return { call: call as LoggedCall['call'], facts, entries, bytes };
}

/** The table of calls has the place of each; calls that are not final are in no row. */
const STATUSES = ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'TIMEOUT'] as const;

export const statusCode = (status: CallStatus): number => STATUSES.indexOf(status);

export const statusOf = (code: number): CallStatus => STATUSES[code] ?? 'FAILED';

const MESSAGE_CHARS = 300;

/** The row of an ended call: what lists, filters and statistics ask for, and nothing that is large. */
export function toCallRow(callNo: number, { call, facts, entries, bytes }: LoggedCall): CallRow {
  const { error, provider, createdAt, completedAt } = call;
  return {
    call_no: callNo,
    id: call.id,
    run_id: call.runId,
    tool_name: call.toolName,
    source: call.source,
    status: statusCode(call.status),
    code: error?.code ?? null,
    client_code: error?.client_code ?? null,
    message: error?.message.slice(0, MESSAGE_CHARS) ?? null,
    requested_by: call.requestedBy,
    owner_token: call.ownerToken,
    client_id: provider?.clientId ?? call.wantedClientId,
    via: call.routing.via ?? null,
    created_at: createdAt,
    started_at: call.startedAt ?? null,
    ended_at: completedAt ?? createdAt,
    waited_ms: waitedMs(entries),
    bytes,
    result_bytes: call.result === undefined ? 0 : estimateJsonBytes(call.result),
    decision: facts.approval_decision?.decision ?? null,
    decided_by: facts.approval_decision?.by ?? null,
    marks: marksOf(call, facts),
  };
}

/** A bit for each, in this order. */
function marksOf(call: LoggedCall['call'], facts: CardUpdate): number {
  const marked = {
    retry: call.retryOf !== null,
    late: call.lateResult !== undefined,
    nested: call.parentCallId !== null,
    repaired: !!facts.repairs,
    hooked: (facts.hooks?.length ?? 0) > 0,
    untrusted: isUntrustedResult(call),
    image: call.attachments.some(isImage),
    file: call.attachments.length > 0,
    edited: facts.approval_decision?.edited === true,
  };
  return Object.values(marked).reduce((sum, is, bit) => sum + (is ? 2 ** bit : 0), 0);
}

/** How long it waited for a person: for a decision, or at the device. */
function waitedMs(entries: readonly CallEventEntry[]): number {
  let waited = 0;
  let since: number | undefined;
  for (const { at, patch } of entries) {
    if (patch.phase === undefined) continue;
    if (since !== undefined) waited += Math.max(0, at - since);
    const isWaiting =
      patch.phase === 'approval' || patch.phase === 'held' || patch.phase === 'device';
    since = isWaiting ? at : undefined;
  }
  return waited;
}
