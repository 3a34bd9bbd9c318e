import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { Compilable } from 'kysely';

/**
 * A Kysely query on the hot path: compiled once, for the first row, and then run
 * with the values of each row. So `build` must use every property of its row, in
 * their order, and nothing else that varies; the first row proves that it does.
 */
function compileOnce<Row extends object>(database: DatabaseSync, build: (row: Row) => Compilable) {
  let statement: ReturnType<DatabaseSync['prepare']> | undefined;
  return (row: Row) => {
    const values = Object.values(row) as SQLInputValue[];
    if (!statement) {
      const { sql, parameters } = build(row).compile();
      if (!isDeepStrictEqual(parameters, values)) {
        throw new Error(`the values of the row are not the parameters of: ${sql}`);
      }
      statement = database.prepare(sql);
    }
    return { statement, values };
  };
}

/** Makes a row into a step of a transaction. Nothing is written until the step is run. */
export function preparedWrite<Row extends object>(
  database: DatabaseSync,
  build: (row: Row) => Compilable,
): (row: Row) => () => void {
  const prepare = compileOnce(database, build);
  return (row) => {
    const { statement, values } = prepare(row);
    return () => {
      statement.run(...values);
    };
  };
}

/** Reads the one row that a key leads to. */
export function preparedRead<Key extends object, Row>(
  database: DatabaseSync,
  build: (key: Key) => Compilable<Row>,
): (key: Key) => Row | undefined {
  const prepare = compileOnce(database, build);
  return (key) => {
    const { statement, values } = prepare(key);
    return statement.get(...values) as Row | undefined;
  };
}
