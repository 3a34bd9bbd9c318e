/** The thread of `write-thread.ts`: one connection that writes and does nothing else. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { CONNECTION_PRAGMAS } from './open-database.ts';
import type { ThreadAnswer, ThreadRequest, WriteStep } from './write-thread.ts';

const database = new DatabaseSync((workerData as { file: string }).file);
database.exec(CONNECTION_PRAGMAS);
const statements = new Map<number, StatementSync>();

/** One commit, so one fsync, for all of it. */
function commit(steps: readonly WriteStep[]): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const [statement, values] of steps) {
      const prepared = statements.get(statement);
      if (!prepared) throw new Error(`statement ${statement} was never prepared`);
      prepared.run(...values);
    }
    database.exec('COMMIT');
  } catch (error) {
    // SQLite has rolled back by itself when the disk is full or broken.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function attempt(work: () => void): ThreadAnswer {
  try {
    work();
    return { ok: true };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on('message', (request: ThreadRequest) => {
  switch (request.type) {
    case 'prepare':
      statements.set(request.statement, database.prepare(request.sql));
      return;
    case 'commit':
      parentPort?.postMessage(attempt(() => commit(JSON.parse(request.steps))));
      return;
    case 'close':
      database.close();
      parentPort?.close();
  }
});
