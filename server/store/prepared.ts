import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { Compilable } from 'kysely';
import type { SqlValue } from './kysely-on.ts';
import type { WriteStep, WriteThread } from './write-thread.ts';

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

/** Makes a row into a step of a transaction. Nothing is written until the step is committed. */
export function preparedWrite<Row extends object>(
  thread: Pick<WriteThread, 'prepare'>,
  build: (row: Row) => Compilable,
): (row: Row) => WriteStep {
  const prepare = compileOnce(build, thread.prepare);
  return (row) => {
    const { statement, values } = prepare(row);
    return [statement, values];
  };
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
