import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, test } from 'vitest';
import type { RunSummary } from '#lib/protocol/run';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { migrate } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { defineRowChecksum, GUARDED_TABLES, type GuardedTable } from '../row-checksum.ts';
import { createSqliteStore } from '../sqlite-store.ts';
import type { Change } from '../store.ts';
import { type Content, changesOf, placeStoreFiles, readContent } from '../testing/store-files.ts';
import { appendCall, putRun, sampleRun } from '../testing/store-setup.ts';
import { checkStoreFile } from './check-store-file.ts';
import { salvageStore } from './salvage-store.ts';

const CALLS = 700;
/** Each of these goes on over several pages. */
const LONG = [5, 400];
const ENDED_SESSIONS = 500;
const PAGE = 4_096;

const dir = sharedTempDir();
const file = join(dir, 'faulty', 'callboard.db');
let database: Buffer;
let mark: Buffer;
let expected: Content;
const roots = new Map<string, number>();

/** Large enough that a call fills a page, so that its tree has three levels. */
const largeChanges = (number: number): Change[] =>
  changesOf(number).map((change) => {
    if (change.type !== 'append_call') return change;
    const text = `call ${number} `.repeat(LONG.includes(number) ? 3_000 : 300);
    return appendCall({ ...change.call, args: { text } });
  });

const sessionOf = (number: number) => `ended ${'x'.repeat(60)} ${number}`;

beforeAll(async () => {
  const made = join(dir, 'callboard.db');
  const store = createSqliteStore({ file: made, scheduleIndexing: () => () => {} });
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
  await store.write(numbers(CALLS).flatMap(largeChanges));
  await store.write(
    numbers(ENDED_SESSIONS).map((number) => ({
      type: 'put_session',
      session: { idHash: sessionOf(number), createdAt: number, expiresAt: number, tokenId: null },
    })),
  );
  await store.write(
    numbers(ENDED_SESSIONS).map((number) => ({
      type: 'delete_session',
      idHash: sessionOf(number),
    })),
  );
  await store.close();
  expected = readContent(made);
  database = readFileSync(made);
  mark = readFileSync(`${made}.mark`);
  const reader = new DatabaseSync(made, { readOnly: true });
  for (const row of reader.prepare('SELECT name, rootpage FROM sqlite_schema').all()) {
    roots.set(String(row.name), Number(row.rootpage));
  }
  reader.close();
});

const pageAt = (page: number) => database.subarray((page - 1) * PAGE, page * PAGE);

/** The pages of a tree that lead to others, from its root on. */
function innerPages(page: number): number[] {
  const bytes = pageAt(page);
  if (bytes[0] !== 5 && bytes[0] !== 2) return [];
  const cells = Array.from({ length: bytes.readUInt16BE(3) }, (_, at) =>
    bytes.readUInt16BE(12 + 2 * at),
  );
  const children = [...cells.map((at) => bytes.readUInt32BE(at)), bytes.readUInt32BE(8)];
  return [page, ...children.flatMap(innerPages)];
}

const innerPagesOf = (table: GuardedTable) => innerPages(roots.get(table) ?? 0);

/** What a salvage makes of the store with these pages zeroed, or changed otherwise. */
function salvageWithout(pages: readonly number[], change: (bytes: Buffer) => void = () => {}) {
  const damaged = Buffer.from(database);
  for (const page of pages) damaged.fill(0, (page - 1) * PAGE, page * PAGE);
  change(damaged);
  placeStoreFiles(file, { database: damaged, mark });
  expect(checkStoreFile(file).kind).toBe('damaged');
  const lines = salvageStore({ file, now: Date.now, report: () => {} });
  expect(checkStoreFile(file).kind).toBe('whole');
  return { lines, content: readContent(file) };
}

test('[ST31] a page inside a tree leads to others, and without it their rows are kept', () => {
  const inner = innerPagesOf('log');
  const [root = 0, below = 0] = inner;
  expect(inner.length).toBeGreaterThan(2);
  for (const pages of [[root], [below], inner, [...inner, ...innerPagesOf('messages')]]) {
    const { lines, content } = salvageWithout(pages);
    expect(lines).toContain(`log: ${CALLS} rows kept, 0 lost`);
    expect(content).toEqual(expected);
  }
});

test('[ST31] of a tree whose inner pages hold rows, those are lost with them, and no others', () => {
  const inner = innerPagesOf('idempotency');
  expect(inner.length).toBeGreaterThan(0);
  // On such a page each cell is a row.
  const held = inner.reduce((rows, page) => rows + pageAt(page).readUInt16BE(3), 0);
  expect(held).toBeGreaterThan(0);
  const { content } = salvageWithout(inner);
  expect(content).toEqual({ ...expected, idempotency: expect.any(Array) });
  expect(expected.idempotency).toEqual(expect.arrayContaining([...content.idempotency]));
  expect(content.idempotency).toHaveLength(CALLS - held);
});

test('[ST31] without the definitions and with every inner page gone, the leaves are enough', () => {
  const { content } = salvageWithout([1, ...GUARDED_TABLES.flatMap(innerPagesOf)]);
  expect(content.log).toEqual(expected.log);
  expect(content.messages).toEqual(expected.messages);
});

/** Then nobody knows which pages are out of use. */
const loseFreePages = (bytes: Buffer) => bytes.writeUInt32BE(0xffff, 36);

test('[ST39] what pages that are out of use still show does not come back', () => {
  const [root = 0] = innerPagesOf('log');
  expect(database.includes(sessionOf(7))).toBe(true);
  expect(salvageWithout([root]).content.sessions).toEqual(expected.sessions);
  const { lines, content } = salvageWithout([root], loseFreePages);
  expect(content).toEqual(expected);
  expect(lines).toContain('some of the pages may be old: their rows may be in an earlier state');
});

test('[ST39] an ended session does not come back, were it for the sake of others', () => {
  const pages = innerPagesOf('sessions');
  expect(pages.length).toBeGreaterThan(0);
  expect(salvageWithout(pages).content.sessions.length).toBeGreaterThan(CALLS / 2);
  const { sessions } = salvageWithout(pages, loseFreePages).content;
  expect(expected.sessions).toEqual(expect.arrayContaining([...sessions]));
});

test('[ST39] of a run in two states the later one counts', async () => {
  const made = join(dir, 'states.db');
  const writeAll = async (given: Partial<RunSummary>) => {
    const store = createSqliteStore({ file: made, scheduleIndexing: () => () => {} });
    const runs = Array.from({ length: 30 }, (_, number) =>
      sampleRun({ run_id: `run_${number}`, title: 'x'.repeat(1_000), ...given }),
    );
    await store.write(runs.map(putRun));
    await store.close();
    return readFileSync(made);
  };
  const earlier = await writeAll({ status: 'running', updated_at: 1_700_000_001 });
  const later = await writeAll({ status: 'idle', updated_at: 1_700_000_002 });
  const both = Buffer.concat([earlier, later.subarray(PAGE)]);
  loseFreePages(both);
  const root = roots.get('runs') ?? 0;
  both.fill(0, (root - 1) * PAGE, root * PAGE);
  placeStoreFiles(file, { database: both });
  const lines = salvageStore({ file, now: Date.now, report: () => {} });
  expect(lines).toContain('runs: 30 rows kept, 0 lost');
  const store = createSqliteStore({ file });
  const { runs } = await store.listRuns({ limit: 100 });
  await store.close();
  expect(runs.map(({ status }) => status)).toEqual(Array(30).fill('idle'));
});

test('[ST31] [ST34] rows of before a column was added are found where they lie', () => {
  const older = new DatabaseSync(join(dir, 'shorter.db'));
  defineRowChecksum(older);
  migrate(older, MIGRATIONS.slice(0, 3));
  older.exec(`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 400)
    INSERT INTO runs (run_id, title, status, step, max_steps, created_at, updated_at, checksum)
    SELECT 'run_' || n, 'A run', 'idle', 0, 9, n, n,
      row_checksum('run_' || n, 'A run', 'idle', NULL, NULL, 0, 9, NULL, n, n) FROM n`);
  migrate(older, MIGRATIONS);
  const find = "SELECT rootpage FROM sqlite_schema WHERE name = 'runs'";
  const at = (Number(older.prepare(find).get()?.rootpage) - 1) * PAGE;
  older.close();
  const damaged = readFileSync(join(dir, 'shorter.db')).fill(0, at, at + PAGE);
  placeStoreFiles(file, { database: damaged });
  const lines = salvageStore({ file, now: Date.now, report: () => {} });
  expect(lines).toContain('runs: 400 rows kept, 0 lost');
  expect(checkStoreFile(file).kind).toBe('whole');
});
