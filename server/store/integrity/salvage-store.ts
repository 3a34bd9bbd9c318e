import { chmodSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FILL_BLOB_USES } from '../blob-ids.ts';
import { migrate } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { defineRowChecksum, GUARDED_TABLES, type GuardedTable } from '../row-checksum.ts';
import { schemaAfter } from '../schema.ts';
import { readMark, syncDirectory } from '../store-mark.ts';
import { checkStoreFile, salvagedFile, walFile } from './check-store-file.ts';
import { fileSize, withFile } from './file-bytes.ts';
import { assemblePages } from './salvage-pages.ts';
import { copyTable } from './salvage-table.ts';

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
  const rescued = salvagedFile(file);
  // When the last salvage was ended between its last two steps, all is done but for the second.
  const isResumed = fileSize(file) === undefined && fileSize(rescued) !== undefined;
  if (!isResumed) lines.push(...rescue(file, rescued, options.now()));
  const kept = `${file}.damaged-${new Date(options.now()).toISOString().replace(/[:.]/g, '-')}`;
  const moves = [
    [file, kept],
    [walFile(file), walFile(kept)],
  ] as const;
  const moved = moves.filter(([from, to]) => renameIfFilled(from, to)).map(([, to]) => to);
  rmSync(`${file}-shm`, { force: true });
  renameSync(rescued, file);
  syncDirectory(dirname(file));
  return moved.length === 0
    ? lines
    : [...lines, `the damaged files are kept as ${moved.join(' and ')}`];
}

/** An empty file, which SQLite leaves where it has looked for a log, tells nobody anything. */
function renameIfFilled(from: string, to: string): boolean {
  const isFilled = (fileSize(from) ?? 0) > 0;
  if (isFilled) renameSync(from, to);
  else rmSync(from, { force: true });
  return isFilled;
}

/** Two temporary files, so that `rescued` is there complete or not at all. */
function rescue(file: string, rescued: string, now: number): string[] {
  const pages = `${rescued}.pages`;
  const unfinished = `${rescued}.unfinished`;
  const temporary = [pages, unfinished].flatMap((name) => [name, walFile(name), `${name}-journal`]);
  for (const name of temporary) rmSync(name, { force: true });
  try {
    const { stalePages, freePages } = assemblePages(file, pages);
    const acknowledged = readMark(file) ?? 0;
    const lines = copyRows({ from: pages, freePages, to: unfinished, acknowledged, now });
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
  /** Undefined when it is not known which they are. */
  readonly freePages: ReadonlySet<number> | undefined;
  readonly to: string;
  /** How many commits there must have been. */
  readonly acknowledged: number;
  readonly now: number;
}

function copyRows(copy: Copy): string[] {
  const { from, freePages } = copy;
  const source = new DatabaseSync(from);
  const target = new DatabaseSync(copy.to);
  try {
    source.exec('PRAGMA writable_schema=ON'); // Takes a schema that is damaged in part.
    defineRowChecksum(target);
    migrate(target, MIGRATIONS);
    target.exec('BEGIN');
    const lines = tablesOf(source).flatMap((table) =>
      withFile(from, (pages) => copyTable({ source, pages, freePages, target }, table)),
    );
    lines.push(...copyMeta(source, target, copy));
    target.exec(`INSERT INTO calls_to_index (call_id)
      SELECT id FROM tool_calls WHERE status NOT IN ('PENDING', 'RUNNING')`);
    target.exec(FILL_BLOB_USES);
    target.exec('COMMIT');
    return lines;
  } finally {
    source.close();
    target.close();
  }
}

/** A store of before does not have all; where nothing says what was before, each is looked for. */
function tablesOf(source: DatabaseSync): readonly GuardedTable[] {
  try {
    const done = source.prepare('SELECT name FROM migrations').all();
    if (done.length >= MIGRATIONS.length) return GUARDED_TABLES;
    const there = new Set(schemaAfter(done.length).map(({ name }) => name));
    return GUARDED_TABLES.filter((table) => there.has(table));
  } catch {
    return GUARDED_TABLES;
  }
}

function copyMeta(
  source: DatabaseSync,
  target: DatabaseSync,
  { acknowledged, now }: Copy,
): string[] {
  const held = readMeta(source, 'commits') ?? 0;
  // Event numbers must rise for ever; no store has given as many as there were milliseconds.
  const reserved = readMeta(source, 'next_seq');
  // Commits that are missing may have been those that reserved numbers.
  const nextSeq = reserved === undefined || held < acknowledged ? now : reserved;
  const put = target.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
  put.run('commits', Math.max(held, acknowledged));
  put.run('next_seq', nextSeq);
  const deletedUpTo = readMeta(source, 'deleted_up_to');
  if (deletedUpTo !== undefined) put.run('deleted_up_to', deletedUpTo);
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
