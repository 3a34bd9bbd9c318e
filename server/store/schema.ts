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

/** Lists what a database says that is in it. */
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

/** Lists what the first `count` migrations make. */
export const schemaAfter = once((count: number): SchemaItem[] =>
  withModel(MIGRATIONS.slice(0, count), readSchema),
);

export interface TableColumn {
  readonly name: string;
  readonly isText: boolean;
  readonly isNullable: boolean;
  /** It is the rowid under another name: the row itself has null in its place. */
  readonly isRowid: boolean;
}

export interface TableShape {
  readonly hasRowids: boolean;
  /** In the order in which a row has them. */
  readonly columns: readonly TableColumn[];
}

/** How the rows of a table look in the newest schema. */
export const shapeOf = once(
  (table: string): TableShape =>
    withModel(MIGRATIONS, (model) => ({
      hasRowids: model.prepare('SELECT wr FROM pragma_table_list(?)').get(table)?.wr === 0,
      columns: model
        .prepare('SELECT name, type, "notnull", pk FROM pragma_table_info(?)')
        .all(table)
        .map(({ name, type, notnull, pk }) => ({
          name: String(name),
          isText: type === 'TEXT',
          isNullable: notnull === 0 && pk === 0,
          isRowid: type === 'INTEGER' && pk === 1,
        })),
    })),
);

/** A model is a database of its own to make, and the same each time. */
function once<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

function withModel<T>(migrations: typeof MIGRATIONS, use: (model: DatabaseSync) => T): T {
  const model = new DatabaseSync(':memory:');
  try {
    defineRowChecksum(model);
    migrate(model, migrations);
    return use(model);
  } finally {
    model.close();
  }
}
