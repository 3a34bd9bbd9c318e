import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { add, insert, put, renew, rowSteps } from './prepared.ts';
import type { WriteStep } from './step-group.ts';

function setup() {
  const database = new DatabaseSync(':memory:');
  database.exec(`CREATE TABLE sessions (
    id_hash TEXT PRIMARY KEY, created_at, expires_at, token_id, checksum)`);
  const statements: StatementSync[] = [];
  return {
    /** As the thread does it: a statement is a number. */
    thread: { prepare: (sql: string) => statements.push(database.prepare(sql)) - 1 },
    run: ([statement, values]: WriteStep) => statements[statement]?.run(...values),
    rows: () => database.prepare('SELECT id_hash, created_at FROM sessions').all(),
  };
}

const session = (id_hash: string, created_at: number) => ({
  ...{ id_hash, created_at, expires_at: 0, token_id: null, checksum: 0 },
});

const row = (id_hash: string, created_at: number) => ({ id_hash, created_at });

test('each row is written with its own values, and none before its step is run', () => {
  const { thread, run, rows } = setup();
  const write = rowSteps(thread, 'sessions', insert);
  const steps = [write(session('a', 1)), write(session('b', 2))];
  expect(rows()).toEqual([]);
  for (const step of steps) run(step);
  expect(rows()).toEqual([row('a', 1), row('b', 2)]);
  expect(() => run(write(session('a', 3)))).toThrow(/UNIQUE/);
});

test.each([
  ['stays where it is added', add, [row('a', 1), row('b', 2)]],
  ['is replaced where it is put', put, [row('a', 3), row('b', 2)]],
  ['is replaced where it is renewed, and comes from nowhere', renew, [row('a', 3)]],
] as const)('a row of the same key %s', (_, toSql, expected) => {
  const { thread, run, rows } = setup();
  run(rowSteps(thread, 'sessions', insert)(session('a', 1)));
  const write = rowSteps(thread, 'sessions', toSql);
  for (const given of [session('a', 3), session('b', 2)]) run(write(given));
  expect(rows()).toEqual(expected);
});
