import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { migrate, StoreTooNewError } from './migrate.ts';

const first = { name: '001', sql: 'CREATE TABLE a (x); CREATE TABLE b (x);' };
const second = { name: '002', sql: 'INSERT INTO a VALUES (1);' };

function setup() {
  const database = new DatabaseSync(':memory:');
  const names = (text: string) =>
    database
      .prepare(text)
      .all()
      .map((row) => row.name);
  return {
    database,
    rows: () => database.prepare('SELECT count(*) AS n FROM a').get()?.n,
    done: () => names('SELECT name FROM migrations ORDER BY name'),
    tables: () => names("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"),
  };
}

test('[ST23] each migration runs once, in order, whenever it came to be', () => {
  const { database, rows, done } = setup();
  migrate(database, [first]);
  migrate(database, [first, second]);
  migrate(database, [first, second]);
  expect(rows()).toBe(1);
  expect(done()).toEqual(['001', '002']);
});

test('[ST23] when one fails none has run', () => {
  const { database, tables, done } = setup();
  expect(() =>
    migrate(database, [first, { name: '002', sql: 'INSERT INTO none VALUES (1)' }]),
  ).toThrow(/no such table/);
  expect(done()).toEqual([]);
  expect(tables()).toEqual(['migrations']);
});

test('[ST22] a file of a newer version is left alone', () => {
  const { database, rows } = setup();
  migrate(database, [first, second]);
  expect(() => migrate(database, [first])).toThrow(StoreTooNewError);
  expect(() => migrate(database, [first])).toThrow(/schema 002 of a newer version/);
  expect(rows()).toBe(1);
});
