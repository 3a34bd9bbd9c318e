import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { sourceOf } from '../testing/paper-store.ts';
import { createRandom } from '../testing/store-files.ts';
import { PAGE_BYTES, rowsOfPage } from './page-rows.ts';

const dir = mkdtempSync(join(tmpdir(), 'pages-'));
afterAll(() => rmSync(dir, { recursive: true }));

const NUMBERS = [
  ...[0, 1, 2, -1, 127, -128, 128, 32_767, -32_768, 8_388_607, -8_388_609, 2 ** 31 - 1, -(2 ** 31)],
  ...[2 ** 31, 2 ** 47 - 1, -(2 ** 47), 2 ** 47, Number.MAX_SAFE_INTEGER, 0.1, -1.5e300, 1e15],
];

/** Around each length at which SQLite keeps a row elsewhere, and where it keeps another part of it. */
const LENGTHS = [
  0, 1, 57, 58, 950, 1_040, 4_000, 4_100, 4_550, 4_650, 5_050, 8_150, 20_000,
].flatMap((around) => Array.from({ length: 60 }, (_, more) => around + more));

/** What SQLite wrote, and what lies on the pages. */
function writeAndRead(definition: string, hasRowids: boolean) {
  const file = join(dir, `${hasRowids}.db`);
  const database = new DatabaseSync(file);
  database.exec(definition);
  const insert = database.prepare('INSERT INTO t VALUES (?, ?, ?)');
  database.exec('BEGIN');
  LENGTHS.forEach((length, place) => {
    const text = `ü${String(place)}${'x'.repeat(length)}`;
    insert.run(
      text,
      NUMBERS[place % NUMBERS.length] ?? 0,
      place % 3 === 0 ? null : text.slice(0, 9),
    );
  });
  database.exec('COMMIT');
  const rows = database
    .prepare('SELECT * FROM t')
    .all()
    .map((row) => Object.values(row));
  database.close();
  const bytes = readFileSync(file);
  const found: unknown[][] = [];
  for (let page = 2; page * PAGE_BYTES <= bytes.length; page += 1) {
    for (const { values } of rowsOfPage(sourceOf(bytes), page, hasRowids)) found.push([...values]);
  }
  return { rows, found };
}

const sorted = (rows: unknown[][]) => rows.map((row) => JSON.stringify(row)).sort();

test.each([
  ['with', 'CREATE TABLE t (a TEXT, b, c)', true],
  ['without', 'CREATE TABLE t (a TEXT PRIMARY KEY, b, c) WITHOUT ROWID', false],
])('[ST31] rows %s rowids are read from their pages as SQLite reads them', (_, sql, hasRowids) => {
  const { rows, found } = writeAndRead(sql, hasRowids);
  expect(rows).toHaveLength(LENGTHS.length);
  expect(sorted(found)).toEqual(sorted(rows));
});

test('[ST31] a page of anything is read without an end or an error', () => {
  const random = createRandom(7);
  for (let turn = 0; turn < 500; turn += 1) {
    const bytes = Buffer.from(Array.from({ length: 2 * PAGE_BYTES }, () => random(256)));
    bytes.set([[0x0d, 0x0a, 0x02][turn % 3] ?? 0], PAGE_BYTES);
    for (const hasRowids of [true, false]) {
      expect([...rowsOfPage(sourceOf(bytes), 2, hasRowids)].length).toBeLessThan(PAGE_BYTES / 2);
    }
  }
});
