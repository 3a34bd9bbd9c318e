import { type Call, type CallFields, NO_ROUTING, type Provider } from '#lib/call/call';
import { movedDeadlines } from '#lib/call/clocks';
import type { Card } from '#lib/protocol/card';
import { given as present } from '#lib/util/given';
import { columnsIn, type TableGuards } from '../row-checksum.ts';

/** The tables of before have these checksums. A call has two, as what never changes was not written again. */
export const OLDER_GUARDS = {
  tool_calls: {
    key: ['id'],
    guards: [
      {
        sum: 'fixed_checksum',
        of: columnsIn(`id run_id tool_name source requested_by wanted_client_id retry_of created_at
          annotations args tool_provider parent_call_id depth routing owner_token trusted
          traceparent model_call_id`),
      },
      {
        sum: 'checksum',
        of: columnsIn(`id status phase client_id instance_id attempt client_claims journal_epoch
          granted timeout_ms queued_at offered_at started_at completed_at deadlines
          execute_left_ms result_hash error attachments result late_result card card_shows version
          device_left_ms display preview`),
      },
    ],
  },
  call_events: {
    key: ['call_id', 'version'],
    guards: [{ sum: 'checksum', of: ['call_id', 'version', 'events'] }],
  },
} as const satisfies Record<string, TableGuards>;

/** A row of `tool_calls`; its columns are documented in `migrations.ts`. */
export type OlderCallRow = Readonly<Record<string, unknown>>;

/** The times are those that were left at the mark; without one, they are wall times. */
type OlderDeadlines = Parameters<typeof movedDeadlines>[0] & {
  deviceLeftMs?: number;
  mark?: number;
};
type OlderAnnotations = Call['annotations'] & { routing?: Call['routing'] };
type OlderCard = Card & { whole?: { display?: unknown; preview?: unknown } };

/** The call of a row. Before there were events (no version), some values were parts of others. */
export function readOlderCall(row: OlderCallRow): Call {
  // The columns are trusted: their checksum was compared.
  const of = <T>(column: string) => row[column] as T;
  const given = <T>(column: string) => of<T | null>(column) ?? undefined;
  const json = <T>(column: string, none?: T) =>
    (row[column] === null ? none : JSON.parse(of(column))) as T;
  const { routing, ...annotations } = json<OlderAnnotations>('annotations');
  const { deviceLeftMs, mark, ...times } = json<OlderDeadlines>('deadlines');
  const { whole, ...card } = json<OlderCard>('card');
  const isBeforeEvents = row.version === null;
  const shown = {
    args: json<Call['args']>('args'),
    result: json<unknown>('result'),
    display: json('display', isBeforeEvents ? whole?.display : undefined),
    preview: json('preview', isBeforeEvents ? whole?.preview : undefined),
  };
  const fields: CallFields = {
    ...shown,
    id: of('id'),
    runId: of('run_id'),
    toolName: of('tool_name'),
    source: of('source'),
    status: of('status'),
    phase: of('phase'),
    error: json('error'),
    attachments: json('attachments'),
    resultHash: given('result_hash'),
    lateResult: json('late_result'),
    annotations,
    timeoutMs: of('timeout_ms'),
    wantedClientId: of('wanted_client_id'),
    routing: json('routing', routing ?? NO_ROUTING),
    provider: providerOf(row),
    granted: row.granted === 1,
    createdAt: of('created_at'),
    queuedAt: given('queued_at'),
    offeredAt: given('offered_at'),
    startedAt: given('started_at'),
    completedAt: given('completed_at'),
    deadlines: {
      ...movedDeadlines(times, mark ?? 0),
      ...present({ executeLeftMs: given<number>('execute_left_ms') }),
    },
    clockMark: mark ?? null,
    retryOf: of('retry_of'),
    version: given<number>('version') ?? 0,
    toolProvider: given('tool_provider') ?? (row.source === 'server' ? 'server' : 'clients'),
    parentCallId: of('parent_call_id'),
    depth: given<number>('depth') ?? 0,
    requestedBy: of('requested_by'),
    ownerToken: of('owner_token'),
    deviceLeftMs: isBeforeEvents ? deviceLeftMs : given('device_left_ms'),
    trusted: row.trusted === null ? undefined : row.trusted === 1,
    traceparent: given('traceparent'),
    modelCallId: given('model_call_id'),
    card: wholeCard(card, Number(row.card_shows), shown),
  };
  // Its columns were those of a call in the phase that it had.
  return present(fields) as Call;
}

function providerOf(row: OlderCallRow): Provider | undefined {
  const { client_id, instance_id, attempt, client_claims, journal_epoch } = row;
  if (client_id === null || instance_id === null || attempt === null) return undefined;
  return {
    clientId: String(client_id),
    instanceId: String(instance_id),
    attempt: Number(attempt),
    claims: client_claims === 1,
    journalEpoch: journal_epoch === null ? null : String(journal_epoch),
  };
}

/** A card was written without what it shows of its call: `shows` says what that is. */
function wholeCard(
  card: Card,
  shows: number,
  call: Pick<CallFields, 'args' | 'result' | 'display' | 'preview'>,
): Card {
  return {
    ...card,
    ...(shows & 1 ? { params: { ...call.args } } : {}),
    ...(shows & 2 ? { result: call.result } : {}),
    ...(shows & 4 ? { result: call.display } : {}),
    ...(shows & 8 ? { preview: call.preview } : {}),
  };
}
