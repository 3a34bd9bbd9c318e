import type { CallRecord } from '#lib/call/call-record';
import { fromJsonColumn, toJsonColumn } from './json-column.ts';
import type { SqlValue } from './kysely-on.ts';
import type { ToolCallRow } from './tables.ts';

export type Column = Exclude<keyof ToolCallRow, 'fixed_checksum' | 'checksum'>;

/** How a value lies in columns. Most values have one column. */
export interface ColumnCodec<Value> {
  readonly columns: readonly Column[];
  /** Adds to `row`, in the order of `columns`. */
  write(row: SqlValue[], value: Value, call: CallRecord): void;
  read(row: ToolCallRow): Value;
}

export const asIs = <C extends Column>(column: C): ColumnCodec<ToolCallRow[C]> => ({
  columns: [column],
  write: (row, value) => row.push(value),
  read: (row) => row[column],
});

/** Null in rows of before there was the column: then it is what `older` makes of the rest. */
export const since004 = <C extends Column>(
  column: C,
  older: (row: ToolCallRow) => NonNullable<ToolCallRow[C]>,
): ColumnCodec<NonNullable<ToolCallRow[C]>> => ({
  columns: [column],
  write: (row, value) => row.push(value),
  read: (row) => row[column] ?? older(row),
});

type JsonColumn = { [C in Column]: ToolCallRow[C] extends string | null ? C : never }[Column];

export const json = <Value>(column: JsonColumn): ColumnCodec<Value> => ({
  columns: [column],
  write: (row, value) => row.push(JSON.stringify(value)),
  read: (row) => fromJsonColumn(row[column] ?? 'null'),
});

/** SQL null for null, where JSON has no other meaning of it. */
export const jsonOrNull = <Value>(column: JsonColumn): ColumnCodec<Value | null> => ({
  columns: [column],
  write: (row, value) => row.push(value === null ? null : JSON.stringify(value)),
  read: (row) => fromJsonColumn(row[column] ?? 'null'),
});

/** SQL null for undefined; null is a value. */
export const anyJson = (
  column: JsonColumn,
  read = ({ [column]: text }: ToolCallRow): unknown =>
    text === null ? undefined : fromJsonColumn(text),
): ColumnCodec<unknown> => ({
  columns: [column],
  write: (row, value) => row.push(toJsonColumn(value)),
  read,
});

export const toFlag = (value: boolean): 0 | 1 => (value ? 1 : 0);
