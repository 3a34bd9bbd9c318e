import { type CallRecord, NO_ROUTING, type Provider, type Routing } from '#lib/call/call-record';
import type { Card } from '#lib/protocol/card';
import type { CHANGING_COLUMNS, FIXED_COLUMNS } from './call-columns.ts';
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
    deadlines: toDeadlinesColumn(call),
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
  const shown = fromCardColumns(row, args, result);
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
    ...shown,
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
    ...fromDeadlinesColumn(row.deadlines),
    executeLeftMs: row.execute_left_ms,
    retryOf: row.retry_of,
    version: 0,
    toolProvider: row.source === 'server' ? 'server' : 'clients',
    parentCallId: null,
    depth: 0,
    requestedBy: row.requested_by,
  };
}

type Clocks = Pick<CallRecord, 'deadlines' | 'deviceLeftMs'>;

/** What is left of the time at the device is a clock that stands still, and stands beside those that run. */
const toDeadlinesColumn = ({ deadlines, deviceLeftMs }: Clocks): string =>
  JSON.stringify(deviceLeftMs === undefined ? deadlines : { ...deadlines, deviceLeftMs });

function fromDeadlinesColumn(text: string): Clocks {
  type Stored = CallRecord['deadlines'] & { readonly deviceLeftMs?: number };
  const { deviceLeftMs, ...deadlines } = fromJsonColumn<Stored>(text);
  return { deadlines, ...(deviceLeftMs === undefined ? {} : { deviceLeftMs }) };
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
const SHOWS_DISPLAY = 4;
const SHOWS_PREVIEW = 8;

/** As the column `card` holds it: with what else people were shown, of which the card may have the beginning alone. */
type StoredCard = Card & { whole?: { display?: unknown; preview?: unknown } };

/** A card mostly repeats values that may be large: each is written once. */
function toCardColumns(call: CallRecord): Pick<ToolCallRow, 'card' | 'card_shows'> {
  const { display, preview } = call;
  const { params, ...rest } = call.card;
  const showsArgs = hasSameEntries(params, call.args);
  const showsResult = call.result !== undefined && Object.is(rest.result, call.result);
  const showsDisplay = display !== undefined && Object.is(rest.result, display);
  const showsPreview = preview !== undefined && Object.is(rest.preview, preview);
  const whole = {
    ...(display === undefined ? {} : { display }),
    ...(preview === undefined ? {} : { preview }),
  };
  const card: Partial<StoredCard> = {
    ...(showsArgs ? rest : call.card),
    ...(showsResult || showsDisplay ? { result: undefined } : {}),
    ...(showsPreview ? { preview: undefined } : {}),
    ...(Object.keys(whole).length === 0 ? {} : { whole }),
  };
  return {
    card: JSON.stringify(card),
    card_shows:
      (showsArgs ? SHOWS_ARGS : 0) +
      (showsResult ? SHOWS_RESULT : 0) +
      (showsDisplay ? SHOWS_DISPLAY : 0) +
      (showsPreview ? SHOWS_PREVIEW : 0),
  };
}

function fromCardColumns(
  row: ToolCallRow,
  args: CallRecord['args'],
  result: unknown,
): Pick<CallRecord, 'card' | 'display' | 'preview'> {
  const { whole, ...card } = fromJsonColumn<StoredCard>(row.card);
  if (row.card_shows & SHOWS_ARGS) card.params = { ...args };
  if (row.card_shows & SHOWS_RESULT) card.result = result;
  if (row.card_shows & SHOWS_DISPLAY) card.result = whole?.display;
  if (row.card_shows & SHOWS_PREVIEW) card.preview = whole?.preview;
  return { card, display: whole?.display, preview: whole?.preview };
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
