/** The thread of `read-thread.ts`: one connection that only reads, one query after the other. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { firstRows } from './first-rows.ts';
import type { ReadAnswer, ReadRequest, Ready } from './read-thread.ts';
import { TERMS_TABLE } from './word-terms.ts';

const { file } = workerData as { file: string };
const database = new DatabaseSync(file, { readOnly: true });
database.exec('PRAGMA busy_timeout=5000');
database.exec(TERMS_TABLE);
/** There are some dozen, by which filters are given. */
const statements = new Map<string, StatementSync>();

function prepare(sql: string): StatementSync {
  const known = statements.get(sql);
  if (known) return known;
  const statement = database.prepare(sql);
  statements.set(sql, statement);
  return statement;
}

function answer(request: ReadRequest): ReadAnswer {
  try {
    const { sql, values, maxChars } = request;
    return { ok: true, ...firstRows(prepare(sql).iterate(...values), maxChars) };
  } catch (error) {
    if (!(error instanceof Error)) return { ok: false, message: String(error) };
    const { code, errcode } = error as { code?: unknown; errcode?: unknown };
    return { ok: false, message: error.message, code, errcode };
  }
}

parentPort?.on('message', (request: ReadRequest) => parentPort?.postMessage(answer(request)));
parentPort?.postMessage('ready' satisfies Ready);
