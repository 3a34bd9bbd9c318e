/** The thread of `write-thread.ts`: one connection that writes and does nothing else. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { createCollector } from '../base/collect-garbage.ts';
import { type Applied, createLogApplier } from './apply-log.ts';
import type { SqlValue } from './compile-query.ts';
import { CONNECTION_PRAGMAS } from './open-database.ts';
import { rowChecksum } from './row-checksum.ts';
import { type StepGroup, stepsOf } from './step-group.ts';
import { openMark, positionOf } from './store-mark.ts';
import type { Sum, ThreadAnswer, ThreadRequest } from './write-thread.ts';

const { file } = workerData as { file: string };
const database = new DatabaseSync(file);
database.exec(CONNECTION_PRAGMAS);
const statements = new Map<number, { prepared: StatementSync; sums: readonly Sum[] }>();
const applySome = createLogApplier(database);
const mark = openMark(file, positionOf(database));
/** A commit applies nothing. */
const NOTHING: Applied = { upTo: 0, more: false };
const collector = createCollector();
/** When the request is not in use any more. */
const collectLater = (chars: number) => {
  if (chars > 0) setImmediate(() => collector.used(chars));
};
/** Commits that were asked for before it was reported are not made: they follow what is not there. */
let failure: unknown;

/** One commit, so one fsync, for all of it. */
function commit(group: StepGroup, position: number): Applied {
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
  return NOTHING;
}

function run(statement: number, values: SqlValue[]): void {
  const known = statements.get(statement);
  if (!known) throw new Error(`statement ${statement} was never prepared`);
  for (const { at, of } of known.sums) {
    values[at] = rowChecksum(of.map((place) => values[place]));
  }
  known.prepared.run(...values);
}

function attempt(work: () => Applied): ThreadAnswer {
  try {
    return { ok: true, applied: work() };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on('message', (request: ThreadRequest) => {
  switch (request.type) {
    case 'prepare': {
      const { statement, sql, sums } = request;
      statements.set(statement, { prepared: database.prepare(sql), sums });
      return;
    }
    case 'commit':
      // fault point: commit-asked
      parentPort?.postMessage(attempt(() => commit(request, request.position)));
      collectLater(request.longTexts.reduce((sum, { length }) => sum + length, 0));
      return;
    case 'apply':
      parentPort?.postMessage(attempt(applySome));
      return;
    case 'close':
      database.close();
      mark.close();
      parentPort?.close();
  }
});
