import type { Card } from '#lib/protocol/card';
import type { CHANGING_COLUMNS, FIXED_COLUMNS } from './call-columns.ts';
import { type CallRecord, NO_ROUTING, type Provider, type Routing } from './call-record.ts';
import { fromJsonColumn, toJsonColumn } from './json-column.ts';
import { wholeRow } from './row-checksum.ts';
import type { ToolCallRow } from './tables.ts';

export type FixedColumns = Pick<ToolCallRow, (typeof FIXED_COLUMNS)[number]>;
export type ChangingColumns = Pick<ToolCallRow, (typeof CHANGING_COLUMNS)[number]>;

/** True when `next` differs from `before` in changing columns only. By identity: cheap, never wrong. */
export const sharesFixedColumns = (before: CallRecord, next: CallRecord): boolean =>
  before.args === next.args &&
  before.annotations === next.annotations &&
  before.routing === next.routing &&
  before.runId === next.runId &&
  before.toolName === next.toolName &&
  before.source === next.source &&
  before.requestedBy === next.requestedBy &&
  before.wantedClientId === next.wantedClientId &&
  before.retryOf === next.retryOf &&
  before.createdAt === next.createdAt;

export const toFixedColumns = (call: CallRecord): FixedColumns => ({
  id: call.id,
  run_id: call.runId,
  tool_name: call.toolName,
  source: call.source,
  requested_by: call.requestedBy,
  wanted_client_id: call.wantedClientId,
  retry_of: call.retryOf,
  created_at: call.createdAt,
  // One column for what is known of the tool; no annotation has the name of the second part.
  annotations: JSON.stringify({ ...call.annotations, routing: call.routing }),
  args: JSON.stringify(call.args),
});

export function toChangingColumns(call: CallRecord): ChangingColumns {
  const { provider } = call;
  return {
    status: call.status,
    phase: call.phase,
    client_id: provider?.clientId ?? null,
    instance_id: provider?.instanceId ?? null,
    attempt: provider?.attempt ?? null,
    client_claims: provider ? toFlag(provider.claims) : null,
    journal_epoch: provider?.journalEpoch ?? null,
    granted: toFlag(call.granted),
    timeout_ms: call.timeoutMs,
    queued_at: call.queuedAt,
    offered_at: call.offeredAt,
    started_at: call.startedAt,
    completed_at: call.completedAt,
    deadlines: JSON.stringify(call.deadlines),
    execute_left_ms: call.executeLeftMs,
    result_hash: call.resultHash,
    error: call.error === null ? null : JSON.stringify(call.error),
    attachments: JSON.stringify(call.attachments),
    result: toJsonColumn(call.result),
    late_result: toJsonColumn(call.lateResult),
    ...toCardColumns(call),
  };
}

/** Throws `RowDamagedError` when the row is not as it was written. */
export function fromCallRow(stored: ToolCallRow): CallRecord {
  const row = wholeRow('tool_calls', stored);
  const args = fromJsonColumn<CallRecord['args']>(row.args);
  const result = fromOptional(row.result);
  const { routing, ...annotations } = fromJsonColumn<AnnotationsColumn>(row.annotations);
  return {
    id: row.id,
    runId: row.run_id,
    toolName: row.tool_name,
    source: row.source,
    status: row.status,
    phase: row.phase,
    args,
    result,
    error: row.error === null ? null : fromJsonColumn(row.error),
    attachments: fromJsonColumn(row.attachments),
    resultHash: row.result_hash,
    lateResult: fromOptional(row.late_result),
    annotations,
    timeoutMs: row.timeout_ms,
    wantedClientId: row.wanted_client_id,
    routing: routing ?? NO_ROUTING,
    provider: fromProviderColumns(row),
    granted: row.granted === 1,
    createdAt: row.created_at,
    queuedAt: row.queued_at,
    offeredAt: row.offered_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    deadlines: fromJsonColumn(row.deadlines),
    executeLeftMs: row.execute_left_ms,
    retryOf: row.retry_of,
    requestedBy: row.requested_by,
    card: fromCardColumns(row, args, result),
  };
}

/** `routing` is missing in records of before. */
type AnnotationsColumn = CallRecord['annotations'] & { routing?: Routing };

function fromProviderColumns(row: ToolCallRow): Provider | null {
  if (row.client_id === null || row.instance_id === null || row.attempt === null) return null;
  return {
    clientId: row.client_id,
    instanceId: row.instance_id,
    attempt: row.attempt,
    claims: row.client_claims === 1,
    journalEpoch: row.journal_epoch,
  };
}

const SHOWS_ARGS = 1;
const SHOWS_RESULT = 2;

/** A card mostly repeats the arguments and the result, which may be large: each is written once. */
function toCardColumns(call: CallRecord): Pick<ToolCallRow, 'card' | 'card_shows'> {
  const { params, ...rest } = call.card;
  const showsArgs = hasSameEntries(params, call.args);
  const showsResult = call.result !== undefined && Object.is(rest.result, call.result);
  const card: Partial<Card> = showsArgs ? rest : call.card;
  return {
    card: JSON.stringify(showsResult ? { ...card, result: undefined } : card),
    card_shows: (showsArgs ? SHOWS_ARGS : 0) + (showsResult ? SHOWS_RESULT : 0),
  };
}

function fromCardColumns(row: ToolCallRow, args: CallRecord['args'], result: unknown): Card {
  const card = fromJsonColumn<Card>(row.card);
  if (row.card_shows & SHOWS_ARGS) card.params = { ...args };
  if (row.card_shows & SHOWS_RESULT) card.result = result;
  return card;
}

/** One level deep and by identity, as the merging of cards keeps the values. */
function hasSameEntries(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
) {
  if (a === b) return true;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && Object.is(a[key], b[key]))
  );
}

const fromOptional = (text: string | null): unknown =>
  text === null ? undefined : fromJsonColumn(text);

const toFlag = (value: boolean): 0 | 1 => (value ? 1 : 0);
