import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { Compilable } from 'kysely';
import type { SqlValue } from './kysely-on.ts';
import type { Guard } from './row-checksum.ts';
import type { WriteStep } from './step-group.ts';
import type { Sum, WriteThread } from './write-thread.ts';

/**
 * A Kysely query on the hot path: compiled once, for the first row, and then run
 * with the values of each row. So `build` must use every property of its row, in
 * their order, and nothing else that varies; the first row proves that it does.
 */
function compileOnce<Row extends object, Statement>(
  build: (row: Row) => Compilable,
  prepare: (sql: string) => Statement,
) {
  let statement: Statement | undefined;
  return (row: Row) => {
    const values = Object.values(row) as SqlValue[];
    if (statement === undefined) {
      const { sql, parameters } = build(row).compile();
      if (!isDeepStrictEqual(parameters, values)) {
        throw new Error(`the values of the row are not the parameters of: ${sql}`);
      }
      statement = prepare(sql);
    }
    return { statement, values };
  };
}

/**
 * Makes a row into a step of a transaction. Nothing is written until the step is
 * committed. The thread that writes fills in the checksums of a guarded row.
 */
export function preparedWrite<Row extends object>(
  thread: Pick<WriteThread, 'prepare'>,
  build: (row: Row) => Compilable,
  guards: readonly Guard[] = [],
): (row: Row) => WriteStep {
  let sums: readonly Sum[] = [];
  const prepare = compileOnce(build, (sql) => thread.prepare(sql, sums));
  return (row) => {
    if (guards.length > 0 && sums.length === 0) sums = toSums(guards, Object.keys(row));
    const { statement, values } = prepare(row);
    return [statement, values];
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

/** Reads the one row that a key leads to. */
export function preparedRead<Key extends object, Row>(
  database: DatabaseSync,
  build: (key: Key) => Compilable<Row>,
): (key: Key) => Row | undefined {
  const prepare = compileOnce<Key, StatementSync>(build, (sql) => database.prepare(sql));
  return (key) => {
    const { statement, values } = prepare(key);
    return statement.get(...values) as Row | undefined;
  };
}
