import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { Kysely, SqliteDialect } from 'kysely';
import type { Tables } from './tables.ts';

/** Kysely over `node:sqlite`, which has all that its SQLite dialect asks for under other names. */
export function kyselyOn(database: DatabaseSync): Kysely<Tables> {
  const dialect = new SqliteDialect({
    database: {
      close: () => database.close(),
      prepare(text) {
        const statement = database.prepare(text);
        const values = (given: readonly unknown[]) => given as SQLInputValue[];
        return {
          reader: statement.columns().length > 0,
          all: (given: readonly unknown[]) => statement.all(...values(given)),
          run: (given: readonly unknown[]) => statement.run(...values(given)),
          iterate: (given: readonly unknown[]) => statement.iterate(...values(given)),
        };
      },
    },
  });
  return new Kysely<Tables>({ dialect });
}

/** What a column of ours holds; blobs lie in files. */
export type SqlValue = string | number | null;
