import type { DatabaseSync } from 'node:sqlite';
import { OLDER_GUARDS } from '../before-log/older-call.ts';
import { fromLogTexts } from '../log-text.ts';
import { GUARDS, isRowWhole, rowChecksum } from '../row-checksum.ts';
import { shapeOf, type TableColumn } from '../schema.ts';
import { isDamage } from '../store-errors.ts';
import { PAGE_BYTES, type PageRow, rowsOfPage } from './page-rows.ts';
import type { WalSource } from './scan-wal.ts';
import type { RecordValue } from './sqlite-record.ts';

/** What is brought: the truth, in a store of before as well. */
const SALVAGED = { ...OLDER_GUARDS, ...GUARDS };
export type SalvagedTable = keyof typeof SALVAGED;
export const SALVAGED_TABLES = Object.keys(SALVAGED) as SalvagedTable[];

type Row = Readonly<Record<string, unknown>>;

export interface TableCopy {
  readonly source: DatabaseSync;
  /** The same, as bytes. */
  readonly pages: WalSource;
  /** Those that hold nothing any more; undefined when it is not known which they are. */
  readonly freePages: ReadonlySet<number> | undefined;
  readonly target: DatabaseSync;
}

export interface CopiedTable {
  /** What is to be told. */
  readonly lines: readonly string[];
  /** As far as it can be known, nothing of the table is lost. */
  readonly isWhole: boolean;
}

/**
 * Brings the rows of a table that are as they were written: those to which
 * SQLite finds its way, and those that lie behind a page that is damaged.
 */
export function copyTable(copy: TableCopy, table: SalvagedTable): CopiedTable {
  const { source, target } = copy;
  const { rows, complete } = readWhatCanBeRead(source, table);
  const kept = createKeptRows(table);
  // A damaged definition may give names that are none.
  const names = shapeOf(table).columns.map(({ name }) => name);
  for (const row of rows) kept.add(pick(row, names));
  const reached = kept.whole.size;
  if (isToBeScanned(copy, table, complete)) {
    for (const row of scanRows(copy.pages, table, copy.freePages ?? new Set())) kept.add(row);
  }
  const given = table === 'log' ? foundedRows(kept.whole.values()) : [...kept.whole.values()];
  for (const row of given) insertRow(target, table, row);
  const lost = kept.keys.size - given.length;
  const lines = [
    `${table}: ${given.length} rows kept, ${complete ? lost : lostText(source, table, given.length, lost)} lost`,
  ];
  const found = kept.whole.size - reached;
  if (copy.freePages === undefined && found > 0) {
    lines.push(
      `${table}: ${found} of them were found on pages that may be out of use: they may be in an earlier state`,
    );
  }
  return { lines, isWhole: complete && lost === 0 };
}

const pick = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(names.flatMap((name) => (name in row ? [[name, row[name]]] : [])));

/**
 * A page that is out of use still shows rows as they once were. When it is not
 * known which these are, only what SQLite did not reach is worth a look there;
 * and what was ended or withdrawn must not come back at all.
 */
const isToBeScanned = (
  { freePages }: TableCopy,
  table: SalvagedTable,
  complete: boolean,
): boolean => freePages !== undefined || (!complete && !WITHDRAWABLE.includes(table));

const WITHDRAWABLE: readonly SalvagedTable[] = [
  'sessions',
  'tokens',
  'kept',
  'memories',
  'deliveries',
];

/** Rows by their keys: of two that are whole the newer one, else the one that was there first. */
function createKeptRows(table: SalvagedTable) {
  const whole = new Map<string, Row>();
  const keys = new Set<string>();
  return {
    whole,
    /** Also of rows that are not whole. */
    keys,
    add(row: Row): void {
      const key = JSON.stringify(SALVAGED[table].key.map((column) => row[column]));
      keys.add(key);
      const summed = 'checksum' in row ? row : { ...row, ...checksumsOf(table, row) };
      if (!isRowWhole(SALVAGED[table], summed)) return;
      const before = whole.get(key);
      if (!before || lastTimeOf(before) < lastTimeOf(summed)) whole.set(key, summed);
    },
  };
}

const lastTimeOf = (row: Row): number =>
  Math.max(...Object.keys(row).map((name) => (name.endsWith('_at') ? Number(row[name]) : 0)));

/** Of a table of which a part could not be read. */
function lostText(source: DatabaseSync, table: SalvagedTable, kept: number, lost: number): string {
  const total = countByIndex(source, table);
  return total === undefined
    ? `${lost} and all of the pages that cannot be read`
    : String(Math.max(total - kept, lost));
}

/** Those of the log from which calls can be folded (rule ST84). */
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

/** Of rows that are older than the checksums: there is nothing to tell whether they are whole. */
export const checksumsOf = (table: SalvagedTable, row: Row): Row =>
  Object.fromEntries(
    SALVAGED[table].guards.map(({ sum, of }) => [
      sum,
      rowChecksum(of.map((column) => row[column])),
    ]),
  );

export function insertRow(target: DatabaseSync, table: SalvagedTable, row: Row): void {
  const columns = Object.keys(row);
  const places = columns.map(() => '?').join(', ');
  const statement = target.prepare(
    `INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${places})`,
  );
  statement.run(...columns.map((column) => row[column] as string | number | null));
}

/** How many rows there were, when anything still tells. */
function countByIndex(source: DatabaseSync, table: SalvagedTable): number | undefined {
  try {
    return Number(source.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows);
  } catch {
    return undefined; // That page is one of the unreadable ones: the line says that it is not known.
  }
}

type ScannedRow = Readonly<Record<string, RecordValue>>;

/**
 * What may be the rows of a table, on all pages of a database but `except`, also
 * on those to which no other page leads any more. They have its columns; whether
 * they are as they were written, their checksums tell.
 */
function* scanRows(
  database: WalSource,
  table: SalvagedTable,
  except: ReadonlySet<number>,
): Generator<ScannedRow> {
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
function toRow(
  columns: readonly TableColumn[],
  { rowid, values }: PageRow,
): ScannedRow | undefined {
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

/** A damaged page costs some tries for each row that was on it; a damaged tree must not cost for ever. */
const MAX_TRIES = 20_000;

interface SalvagedRows {
  readonly rows: readonly Row[];
  /** False when a part of the table could not be read. */
  readonly complete: boolean;
}

/**
 * The rows to which SQLite finds its way. It stops at the first page that makes
 * no sense, so the table is read from both ends; and one of before the checksums,
 * whose rows nothing proves that are met by chance, from the middle of what is
 * left, too, where it has rowids.
 */
function readWhatCanBeRead(database: DatabaseSync, table: SalvagedTable): SalvagedRows {
  return shapeOf(table).hasRowids
    ? readByRowid(database, table)
    : readFromBothEnds(database, table);
}

function readFromBothEnds(database: DatabaseSync, table: SalvagedTable): SalvagedRows {
  const keys = SALVAGED[table].key;
  const ordered = (order: string) =>
    readUntilError(
      database,
      `SELECT * FROM ${table} ORDER BY ${keys.map((key) => `${key} ${order}`).join(', ')}`,
      [],
    );
  const upwards = ordered('ASC');
  if (upwards.complete) return upwards;
  return { rows: [...upwards.rows, ...ordered('DESC').rows], complete: false };
}

function readByRowid(database: DatabaseSync, table: SalvagedTable): SalvagedRows {
  const select = `SELECT rowid AS salvaged_rowid, * FROM ${table} NOT INDEXED
    WHERE rowid > ? AND rowid < ? ORDER BY rowid`;
  const up = (low: number, high: number) => readUntilError(database, `${select} ASC`, [low, high]);
  const down = (low: number, high: number) =>
    readUntilError(database, `${select} DESC`, [low, high]);

  const first = up(-1, Number.MAX_SAFE_INTEGER);
  if (first.complete) return first;
  const last = down(lastRowid(first) ?? -1, Number.MAX_SAFE_INTEGER);
  const rows = [...first.rows, ...last.rows];
  if (hasChecksums(database, table)) return { rows, complete: false };
  const gaps = [[lastRowid(first) ?? -1, lastRowid(last) ?? 2 ** 32] as const];
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [low, high] = gaps.shift() ?? [0, 0];
    if (high - low <= 1) {
      if (gaps.length === 0) break;
      continue;
    }
    const middle = Math.floor((low + high) / 2);
    const above = up(middle - 1, high);
    const below = down(low, middle);
    rows.push(...above.rows, ...below.rows);
    if (!below.complete) gaps.push([low, lastRowid(below) ?? middle]);
    if (!above.complete) gaps.push([lastRowid(above) ?? middle, high]);
  }
  return { rows, complete: false };
}

function hasChecksums(database: DatabaseSync, table: SalvagedTable): boolean {
  try {
    const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(table);
    return columns.some(({ name }) => name === 'checksum');
  } catch (error) {
    if (isDamage(error)) return true; // Without its definition SQLite finds none of its rows.
    throw error;
  }
}

const lastRowid = ({ rows }: SalvagedRows): number | undefined => {
  const rowid = rows.at(-1)?.salvaged_rowid;
  return typeof rowid === 'number' ? rowid : undefined;
};

function readUntilError(
  database: DatabaseSync,
  sql: string,
  values: readonly number[],
): SalvagedRows {
  const rows: Row[] = [];
  try {
    for (const row of database.prepare(sql).iterate(...values)) rows.push(row);
    return { rows, complete: true };
  } catch {
    // Whatever it was, there is no more to be had from here; the caller tells how much is missing.
    return { rows, complete: false };
  }
}
