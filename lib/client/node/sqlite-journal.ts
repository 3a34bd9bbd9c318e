import { closeSync, openSync, renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { toolErrorSchema, toolResultSchema } from '../../protocol/client-messages.ts';
import { errorMessage } from '../../util/error-message.ts';
import { passOverMissing } from '../../util/is-missing.ts';
import { createJournal, type Journal, type JournalChange, type JournalEntry } from '../journal.ts';

const entrySchema = z.object({
  id: z.string(),
  attempt: z.number(),
  tool: z.string(),
  repeatable: z.boolean(),
  answer: z.union([toolResultSchema, toolErrorSchema]).nullable(),
});

export interface SqliteJournalOptions {
  readonly path: string;
  /** For the epoch of a new or damaged file. */
  newId(): string;
  readonly maxBytes?: number;
  onProblem(message: string): void;
}

interface Waiting {
  readonly change: JournalChange;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * A journal on a program's disk; only one program may have it open, which `lockDataDir` ensures.
 * Changes that come in one turn of the event loop share a commit.
 */
export function openSqliteJournal({
  path,
  newId,
  maxBytes,
  onProblem,
}: SqliteJournalOptions): Journal {
  const { database, epoch, entries } = openWhole();
  const remove = database.prepare('DELETE FROM entries WHERE id = ?');
  const put = database.prepare('INSERT INTO entries (id, entry, checksum) VALUES (?, ?, ?)');
  let waiting: Waiting[] = [];

  /** Damage is put aside: a start that cannot be read must not pass for a start that never was (CL23). */
  function openWhole() {
    try {
      return openDatabase(path, newId);
    } catch (error) {
      if (!isDamage(error)) throw error;
      for (const end of ['', '-wal']) moveAside(path, end);
      onProblem(
        `the journal ${path} is damaged (${errorMessage(error)}): it is put aside, and a new one begun. Calls whose records are lost end as outcome_unknown`,
      );
      return openDatabase(path, newId);
    }
  }

  function flush(): void {
    const batch = waiting;
    waiting = [];
    try {
      database.exec('BEGIN');
      for (const { change } of batch) apply(change);
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const { resolve } of batch) resolve();
  }

  /** Removed before it is put: the order of the rows is that of the last puts. */
  function apply({ put: entry, deleted }: JournalChange): void {
    for (const id of entry ? [entry.id, ...deleted] : deleted) remove.run(id);
    if (!entry || deleted.includes(entry.id)) return;
    const text = JSON.stringify(entry);
    put.run(entry.id, text, crc32(text));
  }

  const write = (change: JournalChange): Promise<void> => {
    if (!database.isOpen) return Promise.reject(new Error(`the journal ${path} is closed`));
    return new Promise((resolve, reject) => {
      waiting.push({ change, resolve, reject });
      if (waiting.length === 1) setImmediate(() => waiting.length > 0 && flush());
    });
  };
  const close = () => {
    if (!database.isOpen) return;
    if (waiting.length > 0) flush();
    database.close();
  };
  return createJournal({ epoch, entries, write, close }, maxBytes);
}

/**
 * Writes are taken over into the database from 1 MB of them on, and the next ones then overwrite them
 * where they stand: a file that does not grow is synced in half the time, while the program waits.
 */
const PRAGMAS = `
  PRAGMA auto_vacuum = FULL;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA wal_autocheckpoint = 250;
  PRAGMA journal_size_limit = 1048576;
`;

/** All of it, or nothing: with tables that are missing the file is damaged, and not new. */
const TABLES = `
  BEGIN;
  CREATE TABLE journal (epoch TEXT NOT NULL) STRICT;
  CREATE TABLE entries (
    place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, entry TEXT NOT NULL, checksum INTEGER NOT NULL
  ) STRICT;
  PRAGMA user_version = 1;
`;

function openDatabase(path: string, newId: () => string) {
  // Its owner's alone: SQLite makes what lies beside it with the same mode.
  closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path);
  try {
    database.exec(PRAGMAS);
    // guard: journal-synced
    database.exec('PRAGMA synchronous = FULL');
    const check = database.prepare('PRAGMA integrity_check(1)').get()?.integrity_check;
    if (check !== 'ok') throw new DamageError(String(check));
    if (database.prepare('PRAGMA user_version').get()?.user_version === 0) {
      database.exec(TABLES);
      database.prepare('INSERT INTO journal VALUES (?)').run(newId());
      database.exec('COMMIT');
    }
    const epoch = database.prepare('SELECT epoch FROM journal').get()?.epoch;
    if (typeof epoch !== 'string') throw new DamageError('it has no epoch');
    const rows = database.prepare('SELECT id, entry, checksum FROM entries ORDER BY place').all();
    return { database, epoch, entries: rows.map(readRow) };
  } catch (error) {
    database.close();
    throw error;
  }
}

class DamageError extends Error {
  override readonly name = 'DamageError';
}

function readRow({ id, entry, checksum }: Record<string, unknown>): JournalEntry {
  const text = String(entry);
  const read = crc32(text) === checksum ? entrySchema.safeParse(JSON.parse(text)).data : undefined;
  if (!read || read.id !== id) throw new DamageError(`the row of ${id} has changed`);
  return read;
}

/** SQLite's numbers for tables that are not ours, a structure that is broken, and a file that is none of its own. */
const DAMAGE: ReadonlySet<number> = new Set([1, 11, 26]);

const isDamage = (error: unknown): boolean =>
  error instanceof DamageError ||
  (error instanceof Error && 'errcode' in error && DAMAGE.has(Number(error.errcode) & 0xff));

function moveAside(path: string, end: string): void {
  try {
    renameSync(`${path}${end}`, `${path}.damaged${end}`);
  } catch (error) {
    passOverMissing(error);
  }
}
