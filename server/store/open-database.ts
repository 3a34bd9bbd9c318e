import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreDamagedError } from './store-damaged-error.ts';

/** SQLite's own numbers (sqlite.org/rescode.html). */
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** FULL: a commit is on disk when it returns, which is what an acknowledgement promises. */
export const CONNECTION_PRAGMAS =
  'PRAGMA busy_timeout=5000; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON';

/**
 * Opens the database, made when there is none, readable by its owner alone
 * (SQLite gives its WAL files the same mode), and checks every page before
 * anything relies on it.
 */
export function openDatabase(file: string): DatabaseSync {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const database = new DatabaseSync(file);
  try {
    database.exec(CONNECTION_PRAGMAS);
    const problems = database.prepare('PRAGMA quick_check(3)').all();
    const found = problems.map((row) => String(row.quick_check)).filter((text) => text !== 'ok');
    if (found.length > 0) throw new StoreDamagedError(file, found.join(', '));
    return database;
  } catch (error) {
    database.close();
    throw isDamage(error) ? new StoreDamagedError(file, error.message, { cause: error }) : error;
  }
}

function isDamage(error: unknown): error is Error {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  // The low byte is the kind; the rest says more about it.
  const kind = Number(error.errcode) & 0xff;
  return kind === SQLITE_CORRUPT || kind === SQLITE_NOTADB;
}
