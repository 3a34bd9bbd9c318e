import { chmodSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { checkStoreFile, walFile } from './check-store-file.ts';
import { fileSize } from './file-bytes.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import {
  defineRowChecksum,
  GUARDED_TABLES,
  GUARDS,
  type GuardedTable,
  isRowWhole,
  rowChecksum,
} from './row-checksum.ts';
import { assemblePages } from './salvage-pages.ts';
import { readWhatCanBeRead } from './salvage-rows.ts';
import { readMark, syncDirectory } from './store-mark.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * Makes a damaged store one that can be opened: a new database with every row
 * that can be read and is as it was written. The damaged files stay, under other
 * names. A store that is whole is left alone. Returns what is to be told, line by
 * line. Ended in the middle by force, it goes on from there the next time.
 */
export function salvageStore(options: { readonly file: string; now(): number }): string[] {
  const { file } = options;
  const check = checkStoreFile(file);
  if (check.kind !== 'damaged') return [`the database ${file} is whole: nothing to salvage`];
  const lines = [`the database ${file} is damaged: ${check.problem}`];
  const rescued = `${file}.salvaged`;
  // When the last salvage was ended between its last two steps, all is done but for the second.
  const isResumed = fileSize(file) === undefined && fileSize(rescued) !== undefined;
  if (!isResumed) lines.push(...rescue(file, rescued, options.now()));
  const kept = `${file}.damaged-${new Date(options.now()).toISOString().replace(/[:.]/g, '-')}`;
  const moves = [
    [file, kept],
    [walFile(file), walFile(kept)],
  ] as const;
  const moved = moves.filter(([from, to]) => renameIfThere(from, to)).map(([, to]) => to);
  rmSync(`${file}-shm`, { force: true });
  renameSync(rescued, file);
  syncDirectory(dirname(file));
  return moved.length === 0
    ? lines
    : [...lines, `the damaged files are kept as ${moved.join(' and ')}`];
}

function renameIfThere(from: string, to: string): boolean {
  const isThere = fileSize(from) !== undefined;
  if (isThere) renameSync(from, to);
  return isThere;
}

/** Two temporary files, so that `rescued` is there complete or not at all. */
function rescue(file: string, rescued: string, now: number): string[] {
  const pages = `${rescued}.pages`;
  const unfinished = `${rescued}.unfinished`;
  const temporary = [pages, unfinished].flatMap((name) => [name, walFile(name), `${name}-journal`]);
  for (const name of temporary) rmSync(name, { force: true });
  try {
    const { stalePages } = assemblePages(file, pages);
    const lines = copyRows({ from: pages, to: unfinished, acknowledged: readMark(file) ?? 0, now });
    if (stalePages > 0) {
      lines.push(
        `${stalePages} pages are older than the rest: their rows may be in an earlier state`,
      );
    }
    chmodSync(unfinished, 0o600);
    renameSync(unfinished, rescued);
    return lines;
  } finally {
    for (const name of [...temporary, `${pages}-shm`]) rmSync(name, { force: true });
  }
}

interface Copy {
  readonly from: string;
  readonly to: string;
  /** How many commits there must have been. */
  readonly acknowledged: number;
  readonly now: number;
}

function copyRows(copy: Copy): string[] {
  const source = new DatabaseSync(copy.from);
  const target = new DatabaseSync(copy.to);
  try {
    source.exec('PRAGMA writable_schema=ON'); // Takes a schema that is damaged in part.
    defineRowChecksum(target);
    migrate(target, MIGRATIONS);
    target.exec('BEGIN');
    const lines = GUARDED_TABLES.map((table) => copyTable(source, target, table));
    lines.push(...copyMeta(source, target, copy));
    target.exec(`INSERT INTO calls_to_index (call_id)
      SELECT id FROM tool_calls WHERE status NOT IN ('PENDING', 'RUNNING')`);
    target.exec('COMMIT');
    return lines;
  } finally {
    source.close();
    target.close();
  }
}

function copyTable(source: DatabaseSync, target: DatabaseSync, table: GuardedTable): string {
  const { rows, complete } = readWhatCanBeRead(source, table);
  const whole = new Map<string, Row>();
  const keys = new Set<string>();
  for (const { salvaged_rowid: _, ...row } of rows) {
    const key = JSON.stringify(GUARDS[table].key.map((column) => row[column]));
    keys.add(key);
    const summed = 'checksum' in row ? row : { ...row, ...checksumsOf(table, row) };
    if (isRowWhole(table, summed)) whole.set(key, summed);
  }
  for (const row of whole.values()) insert(target, table, row);
  const lost = keys.size - whole.size;
  if (complete) return `${table}: ${whole.size} rows kept, ${lost} lost`;
  const total = countByIndex(source, table);
  return total === undefined
    ? `${table}: ${whole.size} rows kept, ${lost} and all of the pages that cannot be read lost`
    : `${table}: ${whole.size} rows kept, ${Math.max(total - whole.size, lost)} lost`;
}

/** Of rows that are older than the checksums: there is nothing to tell whether they are whole. */
const checksumsOf = (table: GuardedTable, row: Row): Row =>
  Object.fromEntries(
    GUARDS[table].guards.map(({ sum, of }) => [sum, rowChecksum(of.map((column) => row[column]))]),
  );

function insert(target: DatabaseSync, table: GuardedTable, row: Row): void {
  const columns = Object.keys(row);
  const places = columns.map(() => '?').join(', ');
  const statement = target.prepare(
    `INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${places})`,
  );
  statement.run(...columns.map((column) => row[column] as string | number | null));
}

/** How many rows there were, when anything still tells. */
function countByIndex(source: DatabaseSync, table: GuardedTable): number | undefined {
  try {
    return Number(source.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows);
  } catch {
    return undefined; // That page is one of the unreadable ones: the line says that it is not known.
  }
}

function copyMeta(
  source: DatabaseSync,
  target: DatabaseSync,
  { acknowledged, now }: Copy,
): string[] {
  const held = readMeta(source, 'commits') ?? 0;
  // Event numbers must rise for ever; no store has given as many as there were milliseconds.
  const nextSeq = readMeta(source, 'next_seq') ?? now;
  const put = target.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
  put.run('commits', Math.max(held, acknowledged));
  put.run('next_seq', nextSeq);
  if (held >= acknowledged) return [];
  return [`the last ${acknowledged - held} commits that were acknowledged are not in it`];
}

function readMeta(source: DatabaseSync, key: string): number | undefined {
  try {
    const value = source.prepare('SELECT value FROM meta WHERE key = ?').get(key)?.value;
    return typeof value === 'number' ? value : undefined;
  } catch {
    return undefined; // Unreadable: the caller knows a value that does as well.
  }
}
