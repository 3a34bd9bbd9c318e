import type { DatabaseSync } from 'node:sqlite';
import { OLDER_GUARDS } from '../before-log/older-call.ts';
import { GUARDS } from '../row-checksum.ts';
import { shapeOf } from '../schema.ts';
import { isDamage } from '../store-errors.ts';

/** What is brought: the truth, in a store of before as well. */
export const SALVAGED = { ...OLDER_GUARDS, ...GUARDS };
export type SalvagedTable = keyof typeof SALVAGED;
export const SALVAGED_TABLES = Object.keys(SALVAGED) as SalvagedTable[];

type Row = Readonly<Record<string, unknown>>;

/** A damaged page costs some tries for each row that was on it; a damaged tree must not cost for ever. */
const MAX_TRIES = 20_000;

export interface SalvagedRows {
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
export function readWhatCanBeRead(database: DatabaseSync, table: SalvagedTable): SalvagedRows {
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
