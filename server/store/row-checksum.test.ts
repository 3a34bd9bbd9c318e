import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { defineRowChecksum, GUARDED_TABLES, GUARDS } from './row-checksum.ts';

test.each(GUARDED_TABLES)('[ST30] each column of %s counts for a checksum', (table) => {
  const database = new DatabaseSync(':memory:');
  defineRowChecksum(database);
  migrate(database, MIGRATIONS);
  const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
  const { guards } = GUARDS[table];
  // The number of a row is its place in the tree, by whose order SQLite checks it.
  const known = new Set<unknown>([
    'row_no',
    'seq',
    ...guards.flatMap(({ sum, of }) => [sum, ...of]),
  ]);
  expect(columns.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
  database.close();
});
