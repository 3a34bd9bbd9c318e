import type { SqlValue } from './compile-query.ts';
import { GUARDS, type Guard } from './row-checksum.ts';
import type { WriteStep } from './step-group.ts';
import type { Tables } from './tables.ts';
import type { Sum, WriteThread } from './write-thread.ts';

/** The statement that brings a row with these columns into the table, with a place for each of them. */
type ToSql = (table: keyof Tables, columns: readonly string[]) => string;

export const insert: ToSql = (table, columns) =>
  `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;

/** A row that is there stays as it is. */
export const add: ToSql = (table, columns) => `${insert(table, columns)} ON CONFLICT DO NOTHING`;

/** In the place of a row with the same key. */
export const put: ToSql = (table, columns) => {
  const key = keyOf(table);
  const others = columns.filter((column) => !key.includes(column));
  const changes = others.map((column) => `${column} = excluded.${column}`);
  return `${insert(table, columns)} ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${changes.join(', ')}`;
};

/** Only where a row with the same key is there. */
export const renew: ToSql = (table, columns) => {
  const set = columns.map((column, place) => `${column} = ?${place + 1}`);
  const meets = keyOf(table).map((column) => `${column} = ?${columns.indexOf(column) + 1}`);
  return `UPDATE ${table} SET ${set.join(', ')} WHERE ${meets.join(' AND ')}`;
};

interface Guarded {
  readonly key: readonly string[];
  readonly guards: readonly Guard[];
}

const guardsOf = (table: keyof Tables): Guarded | undefined =>
  (GUARDS as Partial<Record<keyof Tables, Guarded>>)[table];

const keyOf = (table: keyof Tables): readonly string[] => guardsOf(table)?.key ?? [];

/**
 * Makes the rows of a table into steps of a transaction; each has the columns of the first, in their
 * order. Nothing is written until a step is committed. Every checksum is 0 here: the thread that
 * writes puts the true one in its place.
 */
export function rowSteps<Table extends keyof Tables>(
  thread: Pick<WriteThread, 'prepare'>,
  table: Table,
  toSql: ToSql,
): (row: Tables[Table]) => WriteStep {
  let statement: number | undefined;
  return (row) => {
    if (statement === undefined) {
      const columns = Object.keys(row);
      const sums = toSums(guardsOf(table)?.guards ?? [], columns);
      statement = thread.prepare(toSql(table, columns), sums);
    }
    return [statement, Object.values(row) as SqlValue[]]; // The edge to SQL.
  };
}

function toSums(guards: readonly Guard[], columns: readonly string[]): Sum[] {
  const placeOf = (column: string) => {
    const place = columns.indexOf(column);
    if (place < 0) throw new Error(`the row has no ${column}, which its checksum needs`);
    return place;
  };
  return guards.map(({ sum, of }) => ({ at: placeOf(sum), of: of.map(placeOf) }));
}
