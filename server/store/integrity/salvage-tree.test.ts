import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallRecord } from '#lib/call/call-record';
import { sampleCall } from '#lib/call/testing/sample-call';
import { migrate } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { GUARDED_TABLES, type GuardedTable } from '../row-checksum.ts';
import { createSqliteStore } from '../sqlite-store.ts';
import type { Change } from '../store.ts';
import { insertCall } from '../testing/insert-calls.ts';
import { sourceOf } from '../testing/paper-store.ts';
import { type Content, changesOf, placeStoreFiles, readContent } from '../testing/store-files.ts';
import { appendCall } from '../testing/store-setup.ts';
import { checkStoreFile } from './check-store-file.ts';
import { rowsOfPage } from './page-rows.ts';
import { salvageStore } from './salvage-store.ts';

const CALLS = 700;
/** Each of these goes on over several pages. */
const LONG = [5, 400];
const ENDED_SESSIONS = 500;
const PAGE = 4_096;

const dir = mkdtempSync(join(tmpdir(), 'salvage-tree-'));
const file = join(dir, 'faulty', 'callboard.db');
let database: Buffer;
let mark: Buffer;
let expected: Content;
const roots = new Map<string, number>();

/** Large enough that a call fills a page, so that its tree has three levels. */
const largeChanges = (number: number): Change[] =>
  changesOf(number).map((change) =>
    change.type === 'append_call'
      ? {
          ...change,
          call: {
            ...change.call,
            args: { text: `call ${number} `.repeat(LONG.includes(number) ? 3_000 : 300) },
          },
        }
      : change,
  );

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
afterAll(() => rm(dir, { recursive: true }));

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
  const lines = salvageStore({ file, now: Date.now });
  expect(checkStoreFile(file).kind).toBe('whole');
  return { lines, content: readContent(file) };
}

test('[ST31] a page inside a tree leads to others, and without it their rows are kept', () => {
  const inner = innerPagesOf('tool_calls');
  const [root = 0, below = 0] = inner;
  expect(inner.length).toBeGreaterThan(2);
  for (const pages of [[root], [below], inner, [...inner, ...innerPagesOf('messages')]]) {
    const { lines, content } = salvageWithout(pages);
    expect(lines).toContain(`tool_calls: ${CALLS} rows kept, 0 lost`);
    expect(content).toEqual(expected);
  }
});

test('[ST31] of a tree whose inner pages hold rows, those are lost with them, and no others', () => {
  const inner = innerPagesOf('idempotency');
  expect(inner.length).toBeGreaterThan(0);
  const held = inner.flatMap((page) => [...rowsOfPage(sourceOf(database), page, false)]).length;
  expect(held).toBeGreaterThan(0);
  const { content } = salvageWithout(inner);
  expect(content).toEqual({ ...expected, idempotency: expect.any(Array) });
  expect(expected.idempotency).toEqual(expect.arrayContaining([...content.idempotency]));
  expect(content.idempotency).toHaveLength(CALLS - held);
});

test('[ST31] without the definitions and with every inner page gone, the leaves are enough', () => {
  const { content } = salvageWithout([1, ...GUARDED_TABLES.flatMap(innerPagesOf)]);
  expect(content.tool_calls).toEqual(expected.tool_calls);
  expect(content.messages).toEqual(expected.messages);
});

test('[ST31] a row whose end lies on a page that is gone is lost, and no other', () => {
  const long = 'call 400 '.repeat(3_000);
  const at = database.indexOf(long.slice(0, 3_000 * 5).slice(-4_000));
  const { content } = salvageWithout([...innerPagesOf('tool_calls'), Math.floor(at / PAGE) + 1]);
  expect(content.tool_calls).toHaveLength(CALLS - 1);
  expect(content.tool_calls.join()).not.toContain('"tc_0400"');
});

test('[ST31] rows of before the checksums are read around the pages that are gone', () => {
  const old = join(dir, 'old.db');
  const maker = new DatabaseSync(old);
  migrate(maker, MIGRATIONS.slice(0, 1));
  for (let number = 0; number < 40; number += 1) {
    const args = { text: 'x'.repeat(3_500) };
    const call = sampleCall({ id: `tc_${String(number).padStart(2, '0')}`, args });
    insertCall(maker, call);
  }
  maker.close();
  const bytes = readFileSync(old);
  for (const id of ['tc_08', 'tc_30']) {
    const at = bytes.indexOf(`${id}run_1`);
    bytes.fill(0, at - (at % PAGE), at - (at % PAGE) + PAGE);
  }
  placeStoreFiles(file, { database: bytes });
  expect(salvageStore({ file, now: Date.now })).toContain('tool_calls: 38 rows kept, 2 lost');
  expect(checkStoreFile(file).kind).toBe('whole');
});

/** Then nobody knows which pages are out of use. */
const loseFreePages = (bytes: Buffer) => bytes.writeUInt32BE(0xffff, 36);

test('[ST39] what pages that are out of use still show does not come back', () => {
  const [root = 0] = innerPagesOf('tool_calls');
  expect(database.includes(sessionOf(7))).toBe(true);
  expect(salvageWithout([root]).content.sessions).toEqual(expected.sessions);
  const { lines, content } = salvageWithout([root], loseFreePages);
  expect(content).toEqual(expected);
  expect(lines).toContain(
    `tool_calls: ${CALLS} of them were found on pages that may be out of use: they may be in an earlier state`,
  );
});

test('[ST39] an ended session does not come back, were it for the sake of others', () => {
  const pages = innerPagesOf('sessions');
  expect(pages.length).toBeGreaterThan(0);
  expect(salvageWithout(pages).content.sessions.length).toBeGreaterThan(CALLS / 2);
  const { sessions } = salvageWithout(pages, loseFreePages).content;
  expect(expected.sessions).toEqual(expect.arrayContaining([...sessions]));
});

test('[ST39] of a call in two states the later one counts', async () => {
  const made = join(dir, 'states.db');
  const writeAll = async (given: Partial<CallRecord>) => {
    const store = createSqliteStore({ file: made, scheduleIndexing: () => () => {} });
    const args = { text: 'x'.repeat(1_000) };
    const calls = Array.from({ length: 30 }, (_, number) =>
      sampleCall({ id: `tc_${number}`, args, ...given }),
    );
    await store.write(calls.map((call) => appendCall(call)));
    await store.close();
    return readFileSync(made);
  };
  const earlier = await writeAll({});
  const ended = { status: 'SUCCEEDED', phase: null, completedAt: Date.now() } as const;
  const later = await writeAll({ ...ended, version: 2 });
  const both = Buffer.concat([earlier, later.subarray(PAGE)]);
  loseFreePages(both);
  const root = roots.get('tool_calls') ?? 0;
  both.fill(0, (root - 1) * PAGE, root * PAGE);
  placeStoreFiles(file, { database: both });
  const lines = salvageStore({ file, now: Date.now });
  expect(lines).toContain('tool_calls: 30 rows kept, 0 lost');
  const store = createSqliteStore({ file });
  const { calls } = await store.listCalls({ limit: 100 });
  await store.close();
  expect(calls.map(({ status }) => status)).toEqual(Array(30).fill('SUCCEEDED'));
});
