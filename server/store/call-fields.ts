import { type CallRecord, NO_ROUTING, type Provider } from '#lib/call/call-record';
import { movedDeadlines as moved } from '#lib/call/clocks';
import { cardCodec, readDisplay, readPreview } from './card-columns.ts';
import {
  anyJson,
  asIs,
  type Column,
  type ColumnCodec,
  json,
  jsonOrNull,
  since004,
  toFlag,
} from './column-codec.ts';
import { fromJsonColumn } from './json-column.ts';
import type { ToolCallRow } from './tables.ts';

interface CallField<Value> extends ColumnCodec<Value> {
  /** False: written once, when the call is first seen, and again only when it is corrected. */
  readonly changes: boolean;
}

const fixed = <Value>(codec: ColumnCodec<Value>): CallField<Value> => ({
  ...codec,
  changes: false,
});
const changing = <Value>(codec: ColumnCodec<Value>): CallField<Value> => ({
  ...codec,
  changes: true,
});

const provider: ColumnCodec<Provider | null> = {
  columns: ['client_id', 'instance_id', 'attempt', 'client_claims', 'journal_epoch'],
  write(row, value) {
    if (value === null) return row.push(null, null, null, null, null);
    const { clientId, instanceId, attempt, claims, journalEpoch } = value;
    return row.push(clientId, instanceId, attempt, toFlag(claims), journalEpoch);
  },
  read(row) {
    if (row.client_id === null || row.instance_id === null || row.attempt === null) return null;
    return {
      clientId: row.client_id,
      instanceId: row.instance_id,
      attempt: row.attempt,
      claims: row.client_claims === 1,
      journalEpoch: row.journal_epoch,
    };
  },
};

/** All calls of a tool have the same annotations: their text is made once. */
const annotationTexts = new WeakMap<CallRecord['annotations'], string>();

function annotationsText(value: CallRecord['annotations']): string {
  const text = annotationTexts.get(value) ?? JSON.stringify(value);
  annotationTexts.set(value, text);
  return text;
}

/** In rows of before 004 `routing` is a part of the annotations, and `deviceLeftMs` of the deadlines. */
const annotations: ColumnCodec<CallRecord['annotations']> = {
  ...json('annotations'),
  write: (row, value) => row.push(annotationsText(value)),
  read(row) {
    const { routing: _, ...own } = fromJsonColumn<Record<string, unknown>>(row.annotations);
    return own;
  },
};

const routing: ColumnCodec<CallRecord['routing']> = {
  ...json('routing'),
  read(row) {
    if (row.routing !== null) return fromJsonColumn(row.routing);
    const older = fromJsonColumn<{ routing?: CallRecord['routing'] }>(row.annotations);
    return older.routing ?? NO_ROUTING;
  },
};

const attachments: ColumnCodec<CallRecord['attachments']> = {
  ...json('attachments'),
  write: (row, value) => row.push(value.length === 0 ? '[]' : JSON.stringify(value)),
};

type Deadlines = CallRecord['deadlines'];
/** With a mark the times are those that were left at it; without, in rows of before, wall times. */
type StoredDeadlines = Deadlines & { readonly deviceLeftMs?: number; readonly mark?: number };

const readDeadlines = (row: ToolCallRow) => fromJsonColumn<StoredDeadlines>(row.deadlines);

const deadlines: ColumnCodec<Deadlines> = {
  columns: ['deadlines'],
  write(row, value, { clockMark }) {
    const { approval, queue, start, execute, resume, cancel } = moved(value, -(clockMark ?? 0));
    const mark = clockMark === null ? '' : `,"mark":${clockMark}`;
    // The text that JSON has of these numbers and nulls, at a fraction of the cost.
    const times = `"approval":${approval},"queue":${queue},"start":${start},"execute":${execute}`;
    return row.push(`{${times},"resume":${resume},"cancel":${cancel}${mark}}`);
  },
  read(row) {
    const { deviceLeftMs: _, mark = 0, ...own } = readDeadlines(row);
    return moved(own, mark);
  },
};

/** A part of the deadlines, which are read by it. */
const clockMark: ColumnCodec<number | null> = {
  columns: [],
  write() {},
  read: (row) => readDeadlines(row).mark ?? null,
};

const deviceLeftMs: ColumnCodec<number | undefined> = {
  columns: ['device_left_ms'],
  write: (row, value) => row.push(value ?? null),
  read: (row) =>
    row.version === null ? readDeadlines(row).deviceLeftMs : (row.device_left_ms ?? undefined),
};

/** Null where the source says it. */
const trusted: ColumnCodec<boolean | undefined> = {
  columns: ['trusted'],
  write: (row, value) => row.push(value === undefined ? null : toFlag(value)),
  read: ({ trusted: flag }) => (flag === null ? undefined : flag === 1),
};

/** A text that is not there where the column is null. */
const textOrNone = (column: 'traceparent' | 'model_call_id'): ColumnCodec<string | undefined> => ({
  columns: [column],
  write: (row, value) => row.push(value ?? null),
  read: (row) => row[column] ?? undefined,
});

/**
 * Every field of a call, once: how it is stored, and whether it changes while
 * the call lives. Upserts and checksums follow from the table, in its order, which
 * is that of the checksums: a new field goes to the end, with a column that may be
 * null, and no stored checksum changes (see `rowChecksum`).
 */
export const CALL_FIELDS = {
  id: fixed(asIs('id')),
  runId: fixed(asIs('run_id')),
  toolName: fixed(asIs('tool_name')),
  source: fixed(asIs('source')),
  requestedBy: fixed(asIs('requested_by')),
  wantedClientId: fixed(asIs('wanted_client_id')),
  retryOf: fixed(asIs('retry_of')),
  createdAt: fixed(asIs('created_at')),
  annotations: fixed(annotations),
  args: fixed(json<CallRecord['args']>('args')),
  status: changing(asIs('status')),
  phase: changing(asIs('phase')),
  provider: changing(provider),
  granted: changing({
    columns: ['granted'],
    write: (row, value: boolean) => row.push(toFlag(value)),
    read: (row) => row.granted === 1,
  }),
  timeoutMs: changing(asIs('timeout_ms')),
  queuedAt: changing(asIs('queued_at')),
  offeredAt: changing(asIs('offered_at')),
  startedAt: changing(asIs('started_at')),
  completedAt: changing(asIs('completed_at')),
  deadlines: changing(deadlines),
  clockMark: changing(clockMark),
  executeLeftMs: changing(asIs('execute_left_ms')),
  resultHash: changing(asIs('result_hash')),
  error: changing(jsonOrNull<NonNullable<CallRecord['error']>>('error')),
  attachments: changing(attachments),
  result: changing(anyJson('result')),
  lateResult: changing(anyJson('late_result')),
  card: changing(cardCodec),
  toolProvider: fixed(
    since004('tool_provider', (row) => (row.source === 'server' ? 'server' : 'clients')),
  ),
  parentCallId: fixed(asIs('parent_call_id')),
  depth: fixed(since004('depth', () => 0)),
  routing: fixed(routing),
  version: changing(since004('version', () => 0)),
  deviceLeftMs: changing(deviceLeftMs),
  ownerToken: fixed(asIs('owner_token')),
  display: changing(anyJson('display', readDisplay)),
  preview: changing(anyJson('preview', readPreview)),
  trusted: fixed(trusted),
  traceparent: fixed(textOrNone('traceparent')),
  modelCallId: fixed(textOrNone('model_call_id')),
} as const satisfies { [F in keyof CallRecord]-?: CallField<CallRecord[F]> };

type FieldName = keyof typeof CALL_FIELDS;

const entries = Object.entries(CALL_FIELDS) as [FieldName, CallField<unknown>][];

export const FIXED_FIELDS = entries.filter(([, { changes }]) => !changes);
export const CHANGING_FIELDS = entries.filter(([, { changes }]) => changes);

const columnsOf = (fields: typeof entries): Column[] => fields.flatMap(([, one]) => one.columns);

export const FIXED_COLUMNS = columnsOf(FIXED_FIELDS);
export const CHANGING_COLUMNS = columnsOf(CHANGING_FIELDS);
