import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { kyselyOn } from './kysely-on.ts';
import { preparedWrite } from './prepared.ts';
import type { WriteStep } from './step-group.ts';

function setup() {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER)');
  const statements: StatementSync[] = [];
  return {
    database,
    kysely: kyselyOn(database),
    /** As the thread does it: a statement is a number. */
    thread: { prepare: (sql: string) => statements.push(database.prepare(sql)) - 1 },
    run: ([statement, values]: WriteStep) => statements[statement]?.run(...values),
  };
}

test('each row is written with its own values, and none before its step is run', () => {
  const { database, kysely, thread, run } = setup();
  const write = preparedWrite(thread, (row: { key: string; value: number }) =>
    kysely.insertInto('meta').values(row),
  );
  const rows = () => database.prepare('SELECT key, value FROM meta ORDER BY key').all();
  const steps = [write({ key: 'a', value: 1 }), write({ key: 'b', value: 2 })];
  expect(rows()).toEqual([]);
  for (const step of steps) run(step);
  expect(rows()).toEqual([
    { key: 'a', value: 1 },
    { key: 'b', value: 2 },
  ]);
});

test('a query that does not use its row as it is given is refused at the first row', () => {
  const { kysely, thread } = setup();
  const swapped = preparedWrite(thread, ({ key, value }: { key: string; value: number }) =>
    kysely.insertInto('meta').values({ value, key }),
  );
  expect(() => swapped({ key: 'a', value: 1 })).toThrow(/are not the parameters of: insert into/);
});
