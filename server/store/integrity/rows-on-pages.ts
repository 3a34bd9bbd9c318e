import { closeSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { withFile } from './file-bytes.ts';
import { PAGE_BYTES } from './wal-format.ts';

/** A row where it lies, whatever leads there. */
export interface PageRow {
  readonly hasRowids: boolean;
  readonly rowid: unknown;
  /** The values behind the columns of its table are null. */
  readonly values: readonly unknown[];
}

/** No table of ours has more. */
const COLUMNS = Array.from({ length: 64 }, (_, at) => `c${at}`).join();

interface PageKind {
  readonly table: string;
  readonly sql: string;
  /** The columns before the others, and what the rows are ordered by. */
  readonly rowid: string;
  readonly order: string;
}

const ROWS: PageKind = {
  table: 'rows',
  sql: `CREATE TABLE rows (${COLUMNS})`,
  rowid: 'rowid',
  order: 'rowid',
};
const ENTRIES: PageKind = {
  table: 'entries',
  sql: `CREATE TABLE entries (${COLUMNS}, PRIMARY KEY (c0)) WITHOUT ROWID`,
  rowid: 'NULL',
  order: 'c0',
};

/** The kinds of pages that hold rows, by their first byte (sqlite.org/fileformat2.html#b_tree_pages). */
const KINDS = new Map<number | undefined, PageKind>([
  [0x0d, ROWS],
  [0x0a, ENTRIES],
  [0x02, ENTRIES],
]);

const DEFINITIONS_AT = 100;
/** The head of a page without rows. */
const NO_DEFINITIONS = Buffer.of(0x0d, 0, 0, 0, 0, PAGE_BYTES >> 8, 0, 0);

/**
 * The rows on the pages of a database but `except`, as far as SQLite can read them: it is told of
 * one page after the other that a table begins there, so pages to which nothing leads are read,
 * too. It takes the definitions of the database away.
 */
export function* rowsOnPages(file: string, except: ReadonlySet<number>): Generator<PageRow> {
  const pages = pagesWithRows(file);
  if (pages.length === 0) return;
  removeDefinitions(file);
  const database = new DatabaseSync(file, { defensive: false });
  try {
    database.exec('PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA writable_schema=ON');
    const define = database.prepare(
      `INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table', ?1, ?1, 2, ?2)`,
    );
    for (const { table, sql } of [ROWS, ENTRIES]) define.run(table, sql);
    const begin = database.prepare('UPDATE sqlite_schema SET rootpage = ?');
    for (const [page, kind] of pages) {
      if (except.has(page)) continue;
      begin.run(page);
      database.exec('PRAGMA writable_schema=RESET; PRAGMA writable_schema=ON');
      yield* readPage(database, kind);
    }
  } finally {
    database.close();
  }
}

function removeDefinitions(file: string): void {
  const handle = openSync(file, 'r+');
  try {
    writeSync(handle, NO_DEFINITIONS, 0, NO_DEFINITIONS.length, DEFINITIONS_AT);
  } finally {
    closeSync(handle);
  }
}

/** Page 1 holds definitions, and no rows of ours. */
const pagesWithRows = (file: string): (readonly [number, PageKind])[] =>
  withFile(file, (source) => {
    const found: (readonly [number, PageKind])[] = [];
    for (let page = 2; page * PAGE_BYTES <= source.size; page += 1) {
      const kind = KINDS.get(source.read((page - 1) * PAGE_BYTES, 1)[0]);
      if (kind) found.push([page, kind]);
    }
    return found;
  });

/** A row that cannot be read ends the reading, so it begins at the other end of the page again. */
function* readPage(database: DatabaseSync, kind: PageKind): Generator<PageRow> {
  const { table, rowid: first, order } = kind;
  for (const direction of ['ASC', 'DESC']) {
    try {
      const rows = database.prepare(
        `SELECT ${first}, * FROM ${table} ORDER BY ${order} ${direction}`,
      );
      rows.setReturnArrays(true);
      for (const row of rows.iterate() as Iterable<unknown>) {
        if (!Array.isArray(row)) continue;
        const [rowid, ...values] = row;
        yield { hasRowids: kind === ROWS, rowid, values };
      }
      return;
    } catch {
      // The rows behind it may be read from the other end; the caller tells how much is missing.
    }
  }
}
