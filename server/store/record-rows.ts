import type { StoredModelTurn } from '#lib/protocol/model-turn';
import type { Message, RunSummary } from '#lib/protocol/run';
import { GUARDS, wholeRow } from './row-checksum.ts';
import { searchWords } from './search-words.ts';
import type {
  AuditEntry,
  ClientRecord,
  DeliveryRecord,
  IdempotencyEntry,
  KeptEntry,
  MemoryRecord,
  SessionRecord,
  TokenRecord,
} from './store.ts';
import type { MemoryRow, MessageRow, Tables } from './tables.ts';

/** Wire times are seconds. Columns hold milliseconds, one unit for all who read the file. */
const toMs = (seconds: number): number => Math.round(seconds * 1_000);
const toSeconds = (ms: number): number => ms / 1_000;

interface Form {
  to(value: unknown): unknown;
  from(column: unknown): unknown;
}

/** We wrote the column, so it is trusted to be JSON where that was put. */
const parse = (text: unknown): unknown => JSON.parse(String(text));

/** A value that is null, or not there, is null on the other side. */
function orNull(change: (value: unknown) => unknown): (value: unknown) => unknown {
  return (value) => (value == null ? null : change(value));
}

/** How a value is in its column where it is not there as it is. */
const FORMS = {
  json: { to: JSON.stringify, from: parse },
  jsonOrNull: { to: orNull(JSON.stringify), from: orNull(parse) },
  jsonOrNone: { to: orNull(JSON.stringify), from: (text) => orNull(parse)(text) ?? undefined },
  seconds: {
    to: orNull((time) => toMs(Number(time))),
    from: orNull((ms) => toSeconds(Number(ms))),
  },
} as const satisfies Record<string, Form>;

/** These tables have a column for each field of their records. */
interface Records {
  runs: RunSummary;
  model_turns: StoredModelTurn;
  clients: ClientRecord;
  idempotency: IdempotencyEntry;
  sessions: SessionRecord;
  tokens: TokenRecord;
  audit: AuditEntry;
  kept: KeptEntry;
  deliveries: DeliveryRecord;
}

/** Columns have the names of fields in snake case, as records of the wire have, too (`isWire`). */
function rowsOf<Table extends keyof Records>(
  table: Table,
  forms: Partial<Record<keyof Records[Table], keyof typeof FORMS>> = {},
  { isWire = false } = {},
) {
  const formOf: Readonly<Record<string, keyof typeof FORMS | undefined>> = forms;
  const columns = GUARDS[table].guards[0].of.map((column) => {
    const ownName = column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const name = isWire ? column : ownName;
    const given = formOf[name];
    const form: Form | undefined = given && FORMS[given];
    return { column, name, form };
  });
  // The casts are the edge between named fields and columns.
  return {
    /** Its checksum comes from the thread that writes. */
    to(record: Records[Table]): Tables[Table] {
      const values = record as unknown as Values;
      const row: Record<string, unknown> = {};
      for (const { column, name, form } of columns) {
        row[column] = form ? form.to(values[name]) : values[name];
      }
      row.checksum = 0;
      return row as unknown as Tables[Table];
    },
    /** Throws `RowDamagedError`. */
    from(stored: Tables[Table]): Records[Table] {
      const row = wholeRow(table, stored) as unknown as Values;
      const record: Record<string, unknown> = {};
      for (const { column, name, form } of columns) {
        const value = form ? form.from(row[column]) : row[column];
        if (value !== undefined) record[name] = value;
      }
      return record as unknown as Records[Table];
    },
  };
}

type Values = Readonly<Record<string, unknown>>;

const WIRE = { isWire: true };

export const runRows = rowsOf(
  'runs',
  {
    tools: 'jsonOrNull',
    error: 'jsonOrNull',
    created_at: 'seconds',
    updated_at: 'seconds',
    owner: 'jsonOrNone',
    parent: 'jsonOrNone',
    pinned_tools: 'jsonOrNone',
    trace: 'jsonOrNone',
    settings: 'jsonOrNone',
  },
  WIRE,
);

export const modelTurnRows = rowsOf(
  'model_turns',
  {
    started_at: 'seconds',
    first_token_at: 'seconds',
    ended_at: 'seconds',
    usage: 'json',
    sent: 'json',
  },
  WIRE,
);

export const clientRows = rowsOf('clients');
export const idempotencyRows = rowsOf('idempotency');
export const sessionRows = rowsOf('sessions');
export const tokenRows = rowsOf('tokens', { tools: 'jsonOrNull' });
export const auditRows = rowsOf('audit', { detail: 'json' });
export const keptRows = rowsOf('kept', { value: 'json' });
export const deliveryRows = rowsOf('deliveries', { notice: 'json' });

/** These fields share a column with the parts of a message. */
type WithParts = Pick<
  Message,
  'parts' | 'client_id' | 'instance_id' | 'replaces' | 'given_id' | 'author'
> & {
  readonly replay?: unknown;
};

export function toMessageRow(message: Message, position: number, replay: unknown): MessageRow {
  const { message_id, run_id, role, status, created_at, ...withParts } = message;
  const column: WithParts = replay === undefined ? withParts : { ...withParts, replay };
  const isPartsAlone = Object.keys(column).length === 1;
  return {
    message_id,
    run_id,
    position,
    role,
    status,
    parts: JSON.stringify(isPartsAlone ? column.parts : column),
    created_at: toMs(created_at),
    checksum: 0,
  };
}

export function fromMessageRow(stored: MessageRow): Message {
  const { position: _, checksum: __, ...row } = wholeRow('messages', stored);
  const column = JSON.parse(row.parts) as Message['parts'] | WithParts;
  const { replay: ___, ...reported } = Array.isArray(column)
    ? { parts: column, replay: undefined }
    : column;
  return { ...row, ...reported, created_at: toSeconds(row.created_at) };
}

export const toMemoryRow = (memory: MemoryRecord): MemoryRow => ({
  owner: memory.ownerToken ?? '',
  key: memory.key,
  text: memory.text,
  words: searchWords([memory.key, memory.text]),
  put_at: memory.putAt,
  untrusted: memory.untrusted ?? '',
  checksum: 0,
});

/** Nobody knows what was read before a note of an older version. */
const NOT_KNOWN = 'unknown';

export function fromMemoryRow(stored: MemoryRow): MemoryRecord {
  const { owner, key, text, put_at, untrusted } = wholeRow('memories', stored);
  const read = untrusted === null ? NOT_KNOWN : untrusted || null;
  return { ownerToken: owner || null, key, text, putAt: put_at, untrusted: read };
}
