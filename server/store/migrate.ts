import type { DatabaseSync } from 'node:sqlite';
import { defineBlobIds } from './blob-ids.ts';

/** A step of the schema. One that was released is never edited; a change is a new step. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** It runs before `sql`, in transactions of its own; again, where it was ended by force. */
  readonly move?: (database: DatabaseSync, log: (note: string) => void) => void;
}

/** The file was written by a newer version, whose tables this one does not know. */
export class StoreTooNewError extends Error {
  override readonly name = 'StoreTooNewError';
}

/**
 * Brings a database to the newest of `migrations`, all steps in one transaction: after a crash it
 * is as before or as after. One that moves data ends a transaction before it, and is begun again.
 * A file of a newer version is left alone.
 */
export function migrate(
  database: DatabaseSync,
  migrations: readonly Migration[],
  log: (note: string) => void = () => {},
): void {
  defineBlobIds(database);
  database.exec('CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) WITHOUT ROWID');
  const done = new Set(
    database
      .prepare('SELECT name FROM migrations')
      .all()
      .map((row) => String(row.name)),
  );
  const unknown = [...done].filter((name) => !migrations.some((one) => one.name === name));
  if (unknown.length > 0) {
    throw new StoreTooNewError(
      `the database has the schema ${unknown.join(', ')} of a newer version; start that version, or use another data directory`,
    );
  }
  const missing = migrations.filter((one) => !done.has(one.name));
  for (let from = 0; from < missing.length; ) {
    missing[from]?.move?.(database, log);
    const to = missing.findIndex(({ move }, place) => place > from && move);
    run(database, missing.slice(from, to < 0 ? undefined : to));
    from = to < 0 ? missing.length : to;
  }
}

/** All or none. */
function run(database: DatabaseSync, steps: readonly Migration[]): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    const record = database.prepare('INSERT INTO migrations (name) VALUES (?)');
    for (const { name, sql } of steps) {
      database.exec(sql);
      record.run(name);
    }
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
