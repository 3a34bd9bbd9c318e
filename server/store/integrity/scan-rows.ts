import type { GuardedTable } from '../row-checksum.ts';
import { shapeOf, type TableColumn } from '../schema.ts';
import { PAGE_BYTES, type PageRow, rowsOfPage } from './page-rows.ts';
import type { WalSource } from './scan-wal.ts';
import type { RecordValue } from './sqlite-record.ts';

type Row = Readonly<Record<string, RecordValue>>;

/**
 * What may be the rows of a table, on all pages of a database but `except`, also
 * on those to which no other page leads any more. They have its columns; whether
 * they are as they were written, their checksums tell.
 */
export function* scanRows(
  database: WalSource,
  table: GuardedTable,
  except: ReadonlySet<number>,
): Generator<Row> {
  const { columns, hasRowids } = shapeOf(table);
  // Page 1 holds definitions, and no rows of ours.
  for (let page = 2; page * PAGE_BYTES <= database.size; page += 1) {
    if (except.has(page)) continue;
    for (const found of rowsOfPage(database, page, hasRowids)) {
      const row = toRow(columns, found);
      if (row) yield row;
    }
  }
}

/** Undefined when the values do not fit the columns: a checksum does not say of which table it is. */
function toRow(columns: readonly TableColumn[], { rowid, values }: PageRow): Row | undefined {
  // A row of before its last columns were added ends before them.
  if (values.length > columns.length) return undefined;
  const row: Record<string, RecordValue> = {};
  for (const [place, { name, isText, isNullable, isRowid }] of columns.entries()) {
    const value = isRowid ? (rowid ?? null) : (values[place] ?? null);
    const isFitting = value === null ? isNullable : typeof value === (isText ? 'string' : 'number');
    if (!isFitting) return undefined;
    row[name] = value;
  }
  return row;
}
