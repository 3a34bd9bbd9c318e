import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { RowDamagedError } from './store-errors.ts';
import type { Tables } from './tables.ts';

/** The content of these tables is promised. */
export type GuardedTable = keyof typeof GUARDS;

export interface Guard {
  /** The column that holds the checksum. */
  readonly sum: string;
  /** The checksum is of these columns, in this order. */
  readonly of: readonly string[];
}

export interface TableGuards {
  /** A row is called by these columns. */
  readonly key: readonly string[];
  readonly guards: readonly Guard[];
}

export const GUARDS = {
  log: one('call_id version', 'ends events'),
  idempotency: one('scope', 'fingerprint call_id'),
  runs: one(
    'run_id',
    `title status model tools step max_steps error created_at updated_at owner parent pinned_tools
      trace settings`,
  ),
  messages: one('message_id', 'run_id position role status parts created_at'),
  clients: one(
    'client_id instance_id',
    'name kind journal_epoch resume_token_hash last_seen_at owner',
  ),
  sessions: one('id_hash', 'created_at expires_at token_id'),
  tokens: one(
    'id',
    'hash kind name role tools client_id created_at created_by last_used_at revoked_at',
  ),
  audit: one('seq', 'at actor token_id address act target detail'),
  model_turns: one(
    'run_id number',
    `message_id turn step attempt model started_at first_token_at ended_at finish_reason error_code
      usage tools_offered tools_sha256 prompt_sha256 rendering sent`,
  ),
  kept: one('area key', 'value put_at'),
  memories: one('owner key', 'text words put_at untrusted'),
  deliveries: one(
    'id',
    'target notice state attempts made_at tried_at next_at ended_at status error',
  ),
} as const satisfies Partial<Record<keyof Tables, TableGuards>>;

export const GUARDED_TABLES = Object.keys(GUARDS) as GuardedTable[];

function one(key: string, others: string) {
  const sum: Guard = { sum: 'checksum', of: columnsIn(`${key} ${others}`) };
  return { key: columnsIn(key), guards: [sum] as const };
}

/** The names in a text, in their order. */
export function columnsIn(text: string): string[] {
  return text.split(/\s+/);
}

/** A longer text is not copied into the text of the row. */
const ALONE_CHARS = 64 * 1024;

/**
 * CRC-32 of the values of a row, each with its kind and length before it, so
 * that no two rows are one text. A text counts as SQLite keeps it, as UTF-8.
 * Nulls at the end do not count, so that a column that is added later, and a
 * table that does not have it yet, leave the checksums of its rows as they are.
 */
export function rowChecksum(values: readonly unknown[]): number {
  let sum = 0;
  let text = '';
  let nulls = '';
  for (const value of values) {
    if (value === null || value === undefined) {
      nulls += 'n';
      continue;
    }
    if (typeof value !== 'string') text += `${nulls}i${value};`;
    else if (value.length < ALONE_CHARS) text += `${nulls}s${value.length}:${value}`;
    else {
      sum = crc32(value, crc32(`${text}${nulls}s${value.length}:`, sum));
      text = '';
    }
    nulls = '';
  }
  return crc32(text, sum);
}

/** A table's own type has each column by its name; these are names as data. */
type Row = Readonly<Record<string, unknown>>;

export const isRowWhole = ({ guards }: Pick<TableGuards, 'guards'>, row: object): boolean =>
  guards.every(({ sum, of }) => {
    const columns = row as Row;
    return columns[sum] === rowChecksum(of.map((column) => columns[column]));
  });

/** The row as it was written; throws `RowDamagedError` when it is not. */
export function wholeRow<T extends GuardedTable>(table: T, row: Tables[T]): Tables[T] {
  if (isRowWhole(GUARDS[table], row)) return row;
  throw new RowDamagedError(table, keyText(table, { ...row }));
}

const keyText = (table: GuardedTable, row: Row): string =>
  GUARDS[table].key.map((column) => String(row[column])).join(' ');

/** Lets SQL compute it, which the migration does that brought it. */
export function defineRowChecksum(database: DatabaseSync): void {
  const options = { deterministic: true, varargs: true };
  database.function('row_checksum', options, (...values) => rowChecksum(values));
}
