import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Applied, createLogApplier } from './apply-log.ts';
import type { SqlValue } from './compile-query.ts';
import { CONNECTION_PRAGMAS } from './open-database.ts';
import { rowChecksum } from './row-checksum.ts';
import { openMark, positionOf } from './store-mark.ts';
import { type StepGroup, type Sum, stepsOf } from './write-thread.ts';

/** The one connection that writes. A failed commit is its last: later ones follow what is not there. */
export function openWriteConnection(file: string) {
  const database = new DatabaseSync(file);
  database.exec(CONNECTION_PRAGMAS);
  const statements = new Map<number, { prepared: StatementSync; sums: readonly Sum[] }>();
  const apply: () => Applied = createLogApplier(database);
  const mark = openMark(file, positionOf(database));
  let failure: unknown;

  function run(statement: number, values: SqlValue[]): void {
    const known = statements.get(statement);
    if (!known) throw new Error(`statement ${statement} was never prepared`);
    for (const { at, of } of known.sums) {
      values[at] = rowChecksum(of.map((place) => values[place]));
    }
    known.prepared.run(...values);
  }

  return {
    apply,
    prepare(statement: number, sql: string, sums: readonly Sum[]): void {
      statements.set(statement, { prepared: database.prepare(sql), sums });
    },
    /** One commit, so one fsync, for all of it. */
    commit(group: StepGroup, position: number): void {
      if (failure) throw failure;
      // guard: group-in-one-transaction
      database.exec('BEGIN IMMEDIATE');
      try {
        for (const [statement, values] of stepsOf(group)) {
          // fault point: before-step
          run(statement, values);
        }
        // fault point: in-transaction
        database.exec('COMMIT');
        // fault point: committed
        mark.write(position);
      } catch (error) {
        // SQLite has rolled back by itself when the disk is full or broken. Where the mark alone could
        // not be written, the commit is there: whether it is, its caller is not told either way.
        if (database.isTransaction) database.exec('ROLLBACK');
        failure = error;
        throw error;
      }
    },
    close(): void {
      database.close();
      mark.close();
    },
  };
}
