import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** A table of which only the rows that meet `where` are read. `where` is SQL of ours, with no words of others. */
export interface OwnRows {
  readonly table: string;
  readonly where: string;
}

/** Which reads are of rows that may be read. */
export interface OwnRowsGuard {
  /** As SQLite calls an authorizer for `SQLITE_READ`; `within` is the view or query that reads. */
  isAllowed(table: string, database: string | null, within: string | null): boolean;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/**
 * Puts a view of the same name before each table. The tables themselves can then be read through
 * these views alone, and every other table of the file not at all.
 *
 * SQLite gives the authorizer the name of the view that reads, but also the name of a subquery or
 * a `WITH`, which the statement chooses. So each view reads through a second one, whose random name
 * no statement can have: it is new in each process, and `sqlite_temp_schema` cannot be read.
 */
export function showOwnRows(database: DatabaseSync, rows: readonly OwnRows[]): OwnRowsGuard {
  const behind = new Map<string, string>();
  for (const { table, where } of rows) {
    const secret = `own_${randomBytes(16).toString('hex')}`;
    database.exec(`
      CREATE TEMP VIEW ${secret} AS SELECT * FROM main.${quoted(table)} WHERE ${where};
      CREATE TEMP VIEW ${quoted(table)} AS SELECT * FROM temp.${secret};
    `);
    behind.set(table.toLowerCase(), secret);
  }
  const secrets = new Set(behind.values());
  const inFile = new Set(
    database
      .prepare('SELECT lower(name) AS name FROM main.sqlite_schema')
      .all()
      .map(({ name }) => String(name)),
  );
  const isSchema = (table: string) => table === 'sqlite_schema' || table === 'sqlite_master';
  return {
    isAllowed(table, database, within) {
      if (table.startsWith('sqlite_temp_')) return false;
      // Read by a view of ours: the condition was added.
      if (within !== null && secrets.has(within)) return true;
      const own = behind.get(table);
      if (own !== undefined) return database !== 'main';
      // What is not in the file is a view of ours, a `WITH` of the statement, or json_each.
      return isSchema(table) || !inFile.has(table);
    },
  };
}
