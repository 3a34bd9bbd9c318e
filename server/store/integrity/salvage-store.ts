import { renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { decide } from '#lib/call/decide';
import { foldEvents, patchOf } from '#lib/call/fold';
import { olderFile, StoreNotMovedError } from '../before-log/older-file.ts';
import { fromLogRow, toLogText } from '../log-text.ts';
import { migrate } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { createLogReads } from '../read-log.ts';
import { GUARDED_TABLES } from '../row-checksum.ts';
import { positionOf, readMark, syncDirectory } from '../store-mark.ts';
import { checkStoreFile, salvagedFile, walFile } from './check-store-file.ts';
import { fileSize } from './file-bytes.ts';
import { makeStore } from './make-store.ts';
import { type AssembledPages, assemblePages } from './salvage-pages.ts';
import { copyTable, findOnPages, readTable } from './salvage-table.ts';

/**
 * Makes a damaged store one that can be opened: a new database with every row
 * that can be read and is as it was written. The damaged files stay, under other
 * names. A store that is whole is left alone. Returns what is to be told, line by line, and
 * tells how far it is. Ended in the middle by force, it goes on from there the next time. Throws
 * `StoreNotMovedError` for one of before the log: the version that wrote it knows its tables.
 */
export function salvageStore(options: {
  readonly file: string;
  now(): number;
  report(line: string): void;
}): string[] {
  const { file, report } = options;
  const check = checkStoreFile(file);
  if (check.kind !== 'damaged') return [`the database ${file} is whole: nothing to salvage`];
  const lines = [`the database ${file} is damaged: ${check.problem}`];
  const rescued = salvagedFile(file);
  // When the last salvage was ended between its last two steps, all is done but for the second.
  const isResumed = fileSize(file) === undefined && fileSize(rescued) !== undefined;
  if (!isResumed) lines.push(...rescue(file, rescued, { now: options.now(), report }));
  const kept = `${file}.damaged-${new Date(options.now()).toISOString().replace(/[:.]/g, '-')}`;
  const moves = [
    [file, kept],
    [walFile(file), walFile(kept)],
    [olderFile(file), olderFile(kept)],
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
function rescue(file: string, rescued: string, given: Pick<Copy, 'now' | 'report'>): string[] {
  const pages = `${rescued}.pages`;
  const unfinished = `${rescued}.unfinished`;
  const temporary = [pages, unfinished].flatMap((name) => [name, walFile(name), `${name}-journal`]);
  for (const name of temporary) rmSync(name, { force: true });
  try {
    const assembled = assemblePages(file, pages);
    const acknowledged = readMark(file) ?? 0;
    const lines = copyRows({
      ...given,
      ...assembled,
      file,
      from: pages,
      to: unfinished,
      acknowledged,
    });
    renameSync(unfinished, rescued);
    return lines;
  } finally {
    for (const name of [...temporary, `${pages}-shm`]) rmSync(name, { force: true });
  }
}

interface Copy extends AssembledPages {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The position that was reached at least; 0 where that is not known. */
  readonly acknowledged: number;
  readonly now: number;
  report(line: string): void;
}

function copyRows(copy: Copy): string[] {
  const found = readAll(copy.from);
  if (found.isOlder) throw new StoreNotMovedError(notSalvaged(copy.file));
  findOnPages(copy.from, found.tables, copy.freePages);
  const lines: string[] = [];
  const bringTruth = (target: DatabaseSync) => void lines.push(...bringInto(target, found, copy));
  makeStore(copy.to, { bringTruth, report: copy.report });
  return lines;
}

type Found = ReturnType<typeof readAll>;

/** Reads the tables as SQLite finds them. */
function readAll(file: string) {
  const source = new DatabaseSync(file);
  try {
    source.exec('PRAGMA writable_schema=ON'); // Takes a schema that is damaged in part.
    const isOlder = hasTable(source, 'tool_calls');
    const tables = isOlder ? [] : GUARDED_TABLES.map((table) => readTable(source, table));
    const [commits, nextSeq, deletedUpTo] = ['commits', 'next_seq', 'deleted_up_to'].map((key) =>
      readMeta(source, key),
    );
    return { isOlder, tables, commits, nextSeq, deletedUpTo };
  } finally {
    source.close();
  }
}

/** Where nothing can be read of the definitions, it counts as one of now. */
function hasTable(source: DatabaseSync, table: string): boolean {
  try {
    const find = source.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?');
    return find.get(table) !== undefined;
  } catch {
    return false;
  }
}

const notSalvaged = (file: string): string =>
  `the database ${file} is damaged, and of an older version; ${
    fileSize(olderFile(file)) === undefined
      ? 'start that version with --salvage, or restore a copy'
      : `put ${olderFile(file)} in its place, and remove ${walFile(file)} and ${file}-shm`
  }`;

function bringInto(target: DatabaseSync, found: Found, copy: Copy): string[] {
  const { freePages, stalePages, acknowledged, now } = copy;
  migrate(target, MIGRATIONS);
  target.exec('BEGIN');
  const copied = found.tables.map((one) => copyTable(target, one));
  const held = Math.max(positionOf(target), found.commits ?? 0);
  copyMeta(target, found, { held, acknowledged, now });
  target.exec('COMMIT');
  const lines = copied.map(({ line }) => line);
  if (held < acknowledged) {
    lines.push(`what was written after position ${held}, up to ${acknowledged}, is not in it`);
  }
  if (!freePages) lines.push('some of the pages may be old: their rows may be in an earlier state');
  // Without the mark, nobody knows what was written last.
  const isAllThere = acknowledged > 0 && held >= acknowledged && stalePages === 0;
  const isLogWhole = copied.every(({ table, isWhole }) => isWhole || table !== 'log');
  const ended = isAllThere && isLogWhole ? 0 : endOpenCalls(target, now);
  if (ended > 0) {
    lines.push(`${ended} open calls are ended as interrupted: that they ran may be what is lost`);
  }
  return lines;
}

function copyMeta(
  target: DatabaseSync,
  { nextSeq: reserved, deletedUpTo }: Found,
  { held, acknowledged, now }: Pick<Copy, 'acknowledged' | 'now'> & { readonly held: number },
): void {
  // Event numbers must rise for ever; no store has given as many as there were milliseconds.
  // Commits that are missing may have been those that reserved numbers.
  const nextSeq = reserved === undefined || held < acknowledged ? now : reserved;
  const put = target.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
  put.run('commits', Math.max(held, acknowledged));
  put.run('next_seq', nextSeq);
  if (deletedUpTo !== undefined) put.run('deleted_up_to', deletedUpTo);
}

function readMeta(source: DatabaseSync, key: string): number | undefined {
  try {
    const value = source.prepare('SELECT value FROM meta WHERE key = ?').get(key)?.value;
    return typeof value === 'number' ? value : undefined;
  } catch {
    return undefined; // Unreadable: the caller knows a value that does as well.
  }
}

const MAY_HAVE_RUN =
  'The database was damaged, and what happened last to the call may be lost: it may have run';

const OPEN_IN_LOG = `SELECT call_id FROM log AS newest WHERE ends = 0
  AND version = (SELECT max(version) FROM log WHERE log.call_id = newest.call_id)`;

/**
 * Ends the calls that are open in the log. What is lost may be that one was started, or ended, so
 * none of them may run from now on (rule ST85). Returns how many.
 */
function endOpenCalls(store: DatabaseSync, now: number): number {
  const open = store.prepare(OPEN_IN_LOG).all();
  const insert = store.prepare(`INSERT INTO log (seq, call_id, version, ends, events, checksum)
    VALUES (?1, ?2, ?3, 1, ?4, row_checksum(?2, ?3, 1, ?4))`);
  const readLog = createLogReads(store);
  let seq = positionOf(store);
  for (const { call_id } of open) {
    const call = foldEvents(readLog(String(call_id)).flatMap(fromLogRow));
    if (!call) continue;
    const moment = { wall: now, steady: call.clockMark ?? now };
    const event = { type: 'interrupted', message: MAY_HAVE_RUN, isUncertain: true } as const;
    const decided = decide(call, event, moment);
    if (!decided.ok) throw new Error(`the call ${call.id} cannot be ended: ${decided.refusal}`);
    const version = call.version + 1;
    const { shown } = decided;
    const patch = patchOf(call, decided.record);
    const entry = { version, type: event.type, at: now, actor: 'server', patch, shown };
    seq += 1;
    insert.run(seq, call.id, version, `[${toLogText(entry)}]`);
  }
  return open.length;
}
