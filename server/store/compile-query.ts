import {
  DummyDriver,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

/** A column of ours holds one of these; blobs lie in files. */
export type SqlValue = string | number | null;

/** It makes the texts of queries, and has no database. */
const COMPILER = new Kysely({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** A query as SQLite takes it. */
export function compileQuery(query: RawBuilder<unknown>) {
  const { sql, parameters } = query.compile(COMPILER);
  return { sql, values: parameters as readonly SqlValue[] }; // They are typed where they are put in.
}
