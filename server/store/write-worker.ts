/** The thread of `write-thread.ts`: one connection that writes and does nothing else. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { createCollector } from '../collect-garbage.ts';
import { CONNECTION_PRAGMAS } from './open-database.ts';
import { rowChecksum } from './row-checksum.ts';
import { openMark } from './store-mark.ts';
import { createWordIndexer } from './word-indexer.ts';
import type { LargeText, Sum, ThreadAnswer, ThreadRequest, WriteStep } from './write-thread.ts';

const { file } = workerData as { file: string };
const database = new DatabaseSync(file);
database.exec(CONNECTION_PRAGMAS);
const statements = new Map<number, { prepared: StatementSync; sums: readonly Sum[] }>();
let commits = Number(database.prepare("SELECT value FROM meta WHERE key = 'commits'").get()?.value);
const count = database.prepare("UPDATE meta SET value = ? WHERE key = 'commits'");
const indexWords = createWordIndexer(database);
const mark = openMark(file, commits);
const collector = createCollector();

/** One commit, so one fsync, for all of it. Nothing more of it is left to do. */
function commit(steps: readonly WriteStep[]): false {
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const [statement, given] of steps) run(statement, [...given]);
    count.run(commits + 1);
    // fault point: in-transaction
    database.exec('COMMIT');
    // fault point: committed
  } catch (error) {
    // SQLite has rolled back by itself when the disk is full or broken.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
  commits += 1;
  mark.write(commits);
  return false;
}

function run(statement: number, values: WriteStep[1][number][]): void {
  const known = statements.get(statement);
  if (!known) throw new Error(`statement ${statement} was never prepared`);
  for (const { at, of } of known.sums) {
    values[at] = rowChecksum(of.map((place) => values[place]));
  }
  known.prepared.run(...values);
}

function withTexts(request: { steps: string; texts: readonly LargeText[] }): WriteStep[] {
  const steps: [number, WriteStep[1][number][]][] = JSON.parse(request.steps);
  for (const { step, at, text } of request.texts) {
    const values = steps[step]?.[1];
    if (values) values[at] = text;
  }
  return steps;
}

function attempt(work: () => boolean): ThreadAnswer {
  try {
    return { ok: true, more: work() };
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
      parentPort?.postMessage(attempt(() => commit(withTexts(request))));
      for (const { text } of request.texts) collector.used(text.length);
      return;
    case 'index':
      parentPort?.postMessage(attempt(indexWords));
      return;
    case 'close':
      database.close();
      mark.close();
      parentPort?.close();
  }
});
