import { type CallRecord, NO_ROUTING } from '#lib/call/call-record';
import { movedDeadlines } from '#lib/call/clocks';
import type { Card } from '#lib/protocol/card';
import { given } from '#lib/util/given';
import { fromJsonColumn } from '../json-column.ts';
import type { TableGuards } from '../row-checksum.ts';

type Flag = 0 | 1;
type Text = 'id' | 'run_id' | 'tool_name' | 'source' | 'requested_by';
type TextOrNull =
  | 'client_id'
  | 'instance_id'
  | 'journal_epoch'
  | 'wanted_client_id'
  | 'retry_of'
  | 'result_hash'
  | 'tool_provider'
  | 'parent_call_id'
  | 'owner_token'
  | 'traceparent'
  | 'model_call_id';
type JsonText = 'deadlines' | 'annotations' | 'attachments' | 'args' | 'card';
type JsonOrNull = 'error' | 'result' | 'late_result' | 'routing' | 'display' | 'preview';
type Int = 'row_no' | 'timeout_ms' | 'created_at' | 'card_shows';
type IntOrNull =
  | 'attempt'
  | 'queued_at'
  | 'offered_at'
  | 'started_at'
  | 'completed_at'
  | 'execute_left_ms'
  | 'version'
  | 'depth'
  | 'device_left_ms';

/** A row of `tool_calls`; its columns are documented in `migrations.ts`. */
export type OlderCallRow = Readonly<
  Record<Text | JsonText, string> &
    Record<TextOrNull | JsonOrNull, string | null> &
    Record<Int, number> &
    Record<IntOrNull, number | null> & {
      status: CallRecord['status'];
      phase: CallRecord['phase'];
      granted: Flag;
      client_claims: Flag | null;
      trusted: Flag | null;
    }
>;

/** What the tables of before promise. A call has two checksums, as what never changes was not written again. */
export const OLDER_GUARDS = {
  tool_calls: {
    key: ['id'],
    guards: [
      {
        sum: 'fixed_checksum',
        of: [
          ...['id', 'run_id', 'tool_name', 'source', 'requested_by', 'wanted_client_id'],
          ...['retry_of', 'created_at', 'annotations', 'args', 'tool_provider', 'parent_call_id'],
          ...['depth', 'routing', 'owner_token', 'trusted', 'traceparent', 'model_call_id'],
        ],
      },
      {
        sum: 'checksum',
        of: [
          ...['id', 'status', 'phase', 'client_id', 'instance_id', 'attempt', 'client_claims'],
          ...['journal_epoch', 'granted', 'timeout_ms', 'queued_at', 'offered_at', 'started_at'],
          ...['completed_at', 'deadlines', 'execute_left_ms', 'result_hash', 'error'],
          ...['attachments', 'result', 'late_result', 'card', 'card_shows', 'version'],
          ...['device_left_ms', 'display', 'preview'],
        ],
      },
    ],
  },
  call_events: {
    key: ['call_id', 'version'],
    guards: [{ sum: 'checksum', of: ['call_id', 'version', 'events'] }],
  },
} as const satisfies Record<string, TableGuards>;

/** With a mark the times are those that were left at it; without, they are wall times. */
type OlderDeadlines = CallRecord['deadlines'] & {
  readonly deviceLeftMs?: number;
  readonly mark?: number;
};
type OlderAnnotations = CallRecord['annotations'] & { readonly routing?: CallRecord['routing'] };
type OlderCard = Card & {
  readonly whole?: { readonly display?: unknown; readonly preview?: unknown };
};

/** The call of a row. Before there were events (no version), some values were parts of others. */
export function readOlderCall(row: OlderCallRow): CallRecord {
  const isBeforeEvents = row.version === null;
  const { routing: ownRouting = NO_ROUTING, ...annotations } = parse<OlderAnnotations>(
    row.annotations,
  );
  const { deviceLeftMs, mark, ...times } = parse<OlderDeadlines>(row.deadlines);
  const { whole, ...card } = parse<OlderCard>(row.card);
  const older = isBeforeEvents ? whole : undefined;
  const shown = {
    args: parse<CallRecord['args']>(row.args),
    result: parseAny(row.result),
    display: row.display === null ? older?.display : parseAny(row.display),
    preview: row.preview === null ? older?.preview : parseAny(row.preview),
  };
  return {
    ...shown,
    id: row.id,
    runId: row.run_id,
    toolName: row.tool_name,
    source: row.source,
    status: row.status,
    phase: row.phase,
    error: row.error === null ? null : parse(row.error),
    attachments: parse(row.attachments),
    resultHash: row.result_hash,
    lateResult: parseAny(row.late_result),
    annotations,
    timeoutMs: row.timeout_ms,
    wantedClientId: row.wanted_client_id,
    routing: row.routing === null ? ownRouting : parse(row.routing),
    provider: providerOf(row),
    granted: row.granted === 1,
    createdAt: row.created_at,
    queuedAt: row.queued_at,
    offeredAt: row.offered_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    deadlines: movedDeadlines(times, mark ?? 0),
    clockMark: mark ?? null,
    executeLeftMs: row.execute_left_ms,
    retryOf: row.retry_of,
    version: row.version ?? 0,
    toolProvider: row.tool_provider ?? (row.source === 'server' ? 'server' : 'clients'),
    parentCallId: row.parent_call_id,
    depth: row.depth ?? 0,
    requestedBy: row.requested_by,
    ownerToken: row.owner_token,
    ...given({
      deviceLeftMs: isBeforeEvents ? deviceLeftMs : (row.device_left_ms ?? undefined),
      trusted: row.trusted === null ? undefined : row.trusted === 1,
      traceparent: row.traceparent ?? undefined,
      modelCallId: row.model_call_id ?? undefined,
    }),
    card: wholeCard(card, row.card_shows, shown),
  };
}

const parse = <T>(text: string): T => fromJsonColumn<T>(text);
const parseAny = (text: string | null): unknown => (text === null ? undefined : parse(text));

function providerOf(row: OlderCallRow): CallRecord['provider'] {
  const { client_id, instance_id, attempt, client_claims, journal_epoch } = row;
  if (client_id === null || instance_id === null || attempt === null) return null;
  return {
    clientId: client_id,
    instanceId: instance_id,
    attempt,
    claims: client_claims === 1,
    journalEpoch: journal_epoch,
  };
}

/** A card was written without what it shows of its call: `shows` says what that is. */
function wholeCard(
  card: Card,
  shows: number,
  call: Pick<CallRecord, 'args' | 'result' | 'display' | 'preview'>,
): Card {
  return {
    ...card,
    ...(shows & 1 ? { params: { ...call.args } } : {}),
    ...(shows & 2 ? { result: call.result } : {}),
    ...(shows & 4 ? { result: call.display } : {}),
    ...(shows & 8 ? { preview: call.preview } : {}),
  };
}
