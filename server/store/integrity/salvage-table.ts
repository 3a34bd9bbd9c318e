import type { DatabaseSync } from 'node:sqlite';
import { fromLogTexts } from '../log-text.ts';
import { GUARDS, type GuardedTable, isRowWhole } from '../row-checksum.ts';
import { shapeOf } from '../schema.ts';
import { type PageRow, rowsOnPages } from './rows-on-pages.ts';

type Row = Readonly<Record<string, unknown>>;

/** The rows of a table that are as they were written, as far as they were found. */
export interface FoundTable {
  readonly table: GuardedTable;
  readonly kept: ReturnType<typeof createKeptRows>;
  /** False when SQLite could not read a part of the table. */
  readonly complete: boolean;
  /** How many rows there were, when anything still tells. */
  readonly total: number | undefined;
}

/** Finds the rows to which SQLite has a way. */
export function readTable(source: DatabaseSync, table: GuardedTable): FoundTable {
  const kept = createKeptRows(table);
  // A damaged definition may give names that are none.
  const names = shapeOf(table).columns.map(({ name }) => name);
  const complete = readFromBothEnds(source, table, (row) => kept.add(pick(row, names)));
  const total = complete ? undefined : countByIndex(source, table);
  return { table, kept, complete, total };
}

const pick = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(names.flatMap((name) => (name in row ? [[name, row[name]]] : [])));

/** SQLite stops at the first page that makes no sense, so it begins at the other end again. */
function readFromBothEnds(
  source: DatabaseSync,
  table: GuardedTable,
  add: (row: Row) => void,
): boolean {
  const order = shapeOf(table).hasRowids ? ['rowid'] : GUARDS[table].key;
  for (const direction of ['ASC', 'DESC']) {
    const by = order.map((column) => `${column} ${direction}`).join(', ');
    try {
      const rows = source.prepare(`SELECT * FROM ${table} NOT INDEXED ORDER BY ${by}`);
      for (const row of rows.iterate()) add(row);
      return direction === 'ASC';
    } catch {
      // Whatever it was, there is no more to be had from this end.
    }
  }
  return false;
}

function countByIndex(source: DatabaseSync, table: GuardedTable): number | undefined {
  try {
    return Number(source.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows);
  } catch {
    return undefined; // That page is one of the unreadable ones: the line says that it is not known.
  }
}

/**
 * Finds rows that lie on pages to which nothing leads any more: their checksums tell whether they
 * are as they were written. `freePages` hold nothing any more, and undefined says that it is not
 * known which they are.
 */
export function findOnPages(
  file: string,
  tables: readonly FoundTable[],
  freePages: ReadonlySet<number> | undefined,
): void {
  const wanted = tables.filter((one) => isToBeScanned(one, freePages !== undefined));
  if (wanted.length === 0) return;
  for (const found of rowsOnPages(file, freePages ?? new Set())) {
    for (const { table, kept } of wanted) {
      const row = toRow(table, found);
      if (row) kept.add(row);
    }
  }
}

/**
 * A page that is out of use still shows rows as they once were. When it is not
 * known which these are, only what SQLite did not reach is worth a look there;
 * and what was ended or withdrawn must not come back at all.
 */
const isToBeScanned = ({ table, complete }: FoundTable, areFreePagesKnown: boolean): boolean =>
  areFreePagesKnown || (!complete && !WITHDRAWABLE.includes(table));

const WITHDRAWABLE: readonly GuardedTable[] = [
  'sessions',
  'tokens',
  'kept',
  'memories',
  'deliveries',
];

/** Undefined when the values do not fit the columns: a checksum does not say of which table it is. */
function toRow(table: GuardedTable, { hasRowids, rowid, values }: PageRow): Row | undefined {
  const shape = shapeOf(table);
  if (shape.hasRowids !== hasRowids) return undefined;
  // A row of before its last columns were added ends before them.
  if (values.slice(shape.columns.length).some((value) => value !== null)) return undefined;
  const row: Record<string, unknown> = {};
  for (const [place, { name, isText, isNullable, isRowid }] of shape.columns.entries()) {
    const value = isRowid ? rowid : values[place];
    const isFitting = value === null ? isNullable : typeof value === (isText ? 'string' : 'number');
    if (!isFitting) return undefined;
    row[name] = value;
  }
  return row;
}

export interface CopiedTable {
  readonly table: GuardedTable;
  /** For people. */
  readonly line: string;
  /** Nothing of the table is lost, as far as it can be known. */
  readonly isWhole: boolean;
}

/** Brings what was found into a new database. */
export function copyTable(
  target: DatabaseSync,
  { table, kept, complete, total }: FoundTable,
): CopiedTable {
  const given = table === 'log' ? foundedRows(kept.whole.values()) : [...kept.whole.values()];
  for (const row of given) insertRow(target, table, row);
  const missing = kept.keys.size - given.length;
  let lost = String(missing);
  if (!complete) {
    lost =
      total === undefined ? `${missing} or more` : String(Math.max(total - given.length, missing));
  }
  const line = `${table}: ${given.length} rows kept, ${lost} lost`;
  return { table, line, isWhole: complete && missing === 0 };
}

/** Rows by their keys: of two that are whole the newer one, else the one that was there first. */
function createKeptRows(table: GuardedTable) {
  const whole = new Map<string, Row>();
  const keys = new Set<string>();
  return {
    whole,
    /** Also of rows that are not whole. */
    keys,
    add(row: Row): void {
      const key = JSON.stringify(GUARDS[table].key.map((column) => row[column]));
      keys.add(key);
      if (!isRowWhole(GUARDS[table], row)) return;
      const before = whole.get(key);
      if (!before || lastTimeOf(before) < lastTimeOf(row)) whole.set(key, row);
    },
  };
}

const lastTimeOf = (row: Row): number =>
  Math.max(...Object.keys(row).map((name) => (name.endsWith('_at') ? Number(row[name]) : 0)));

/** Calls can be folded from these rows of the log (rule ST84). */
function foundedRows(rows: Iterable<Row>): Row[] {
  const places = new Map([...rows].map((row) => [row.seq, row]));
  return [...Map.groupBy(places.values(), ({ call_id }) => call_id).values()].flatMap(foundedOf);
}

/** From a row that needs none before it, as far as none is missing. */
function foundedOf(rows: readonly Row[]): Row[] {
  const ordered = rows.toSorted((a, b) => Number(a.version) - Number(b.version));
  const founded: Row[] = [];
  let next = 1;
  for (const row of ordered) {
    const events = fromLogTexts(String(row.events));
    const isFirst = founded.length === 0 && events.some(({ card }) => card);
    if (row.version !== next && !isFirst) break;
    founded.push(row);
    next = (events.at(-1)?.version ?? 0) + 1;
  }
  return founded;
}

function insertRow(target: DatabaseSync, table: GuardedTable, row: Row): void {
  const columns = Object.keys(row);
  const places = columns.map(() => '?').join(', ');
  const statement = target.prepare(
    `INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${places})`,
  );
  statement.run(...columns.map((column) => row[column] as string | number | null));
}
