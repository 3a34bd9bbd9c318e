import { DatabaseSync } from 'node:sqlite';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { defineRowChecksum } from './row-checksum.ts';

export interface SchemaItem {
  readonly rowid: number;
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly rootpage: number;
  readonly sql: string | null;
}

/** What a database says that is in it. */
export const readSchema = (database: DatabaseSync): SchemaItem[] =>
  database
    .prepare('SELECT rowid, type, name, tbl_name, rootpage, sql FROM sqlite_schema')
    .all()
    .map((row) => ({
      rowid: Number(row.rowid),
      type: String(row.type),
      name: String(row.name),
      tbl_name: String(row.tbl_name),
      rootpage: Number(row.rootpage),
      sql: row.sql === null ? null : String(row.sql),
    }));

/** What the first `count` migrations make. */
export function schemaAfter(count: number): SchemaItem[] {
  const model = new DatabaseSync(':memory:');
  try {
    defineRowChecksum(model);
    migrate(model, MIGRATIONS.slice(0, count));
    return readSchema(model);
  } finally {
    model.close();
  }
}
