import type { DatabaseSync } from 'node:sqlite';
import { GUARDED_TABLES, GUARDS, type GuardedTable, rowChecksum } from '../row-checksum.ts';

/** The keys of rows whose checksum is wrong; all rows are read. */
export function findDamagedRows(database: DatabaseSync): string[] {
  return GUARDED_TABLES.flatMap((table) => [...damagedRowsOf(database, table)]);
}

function* damagedRowsOf(database: DatabaseSync, table: GuardedTable): Generator<string> {
  const { key, guards } = GUARDS[table];
  const there = columnsOf(database, table);
  // A store of before may not have the table yet, nor each column: those count as null.
  if (there.size === 0) return;
  const columns = guards.flatMap(({ sum, of }) => [sum, ...of]);
  const selected = columns.map((column) => (there.has(column) ? column : 'NULL'));
  const rows = database.prepare(`SELECT ${[...selected, ...key].join(', ')} FROM ${table}`);
  // Plain lists: a third less time than objects for a table that is read to its end.
  rows.setReturnArrays(true);
  for (const row of rows.iterate() as Iterable<unknown>) {
    if (Array.isArray(row) && !areWhole(guards, row)) {
      yield `the row ${row.slice(columns.length).join(' ')} of ${table}`;
    }
  }
}

const columnsOf = (database: DatabaseSync, table: GuardedTable): Set<string> =>
  new Set(
    database
      .prepare('SELECT name FROM pragma_table_info(?)')
      .all(table)
      .map(({ name }) => String(name)),
  );

function areWhole(guards: readonly { of: readonly string[] }[], row: readonly unknown[]): boolean {
  let at = 0;
  for (const { of } of guards) {
    const end = at + 1 + of.length;
    if (row[at] !== rowChecksum(row.slice(at + 1, end))) return false;
    at = end;
  }
  return true;
}
