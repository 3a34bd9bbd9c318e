import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, test } from 'vitest';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { GUARDED_TABLES } from '../row-checksum.ts';
import { createSqliteStore } from '../sqlite-store.ts';
import {
  type Content,
  changesOf,
  createRandom,
  flipBit,
  makeStoreFiles,
  placeStoreFiles,
  readContent,
  type StoreFiles,
} from '../testing/store-files.ts';
import { checkStoreFile } from './check-store-file.ts';
import { assemblePages } from './salvage-pages.ts';
import { salvageStore } from './salvage-store.ts';

const dir = sharedTempDir();
const file = join(dir, 'faulty', 'callboard.db');
const report = () => {};
const now = () => Date.UTC(2026, 0, 2, 3, 4, 5, 6);
const KEPT = `${file}.damaged-2026-01-02T03-04-05-006Z`;
const PAGE = 4_096;
const salvageNow = () => salvageStore({ file, now, report });
let files: StoreFiles;
/** The same store with all of its log in the database, as after a stop in order. */
let folded: StoreFiles;
let expected: Content;

beforeAll(async () => {
  files = await makeStoreFiles(join(dir, 'made'), 60);
  placeStoreFiles(file, files);
  expected = readContent(file);
  const database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  folded = { ...files, database: readFileSync(file), log: Buffer.alloc(0) };
});

function salvage(changed: Partial<StoreFiles>) {
  placeStoreFiles(file, { ...files, ...changed });
  const lines = salvageNow();
  return { lines, content: readContent(file) };
}

/** Nothing is there that was not, and a salvaged store is a whole one. */
function expectPart(content: Content) {
  for (const table of GUARDED_TABLES) {
    expect(expected[table]).toEqual(expect.arrayContaining([...content[table]]));
  }
  expect(checkStoreFile(file).kind).toBe('whole');
}

/** Where a flipped bit counts. Pages keep what they no longer hold, so not each place of the text does. */
function placeOf(text: string, database: Buffer, isMeant: (problem: string) => boolean): number {
  for (let at = 0; ; at += 1) {
    at = database.indexOf(text, at);
    if (at < 0) throw new Error('the text is in no page');
    placeStoreFiles(file, { database: flipBit(database, at) });
    const check = checkStoreFile(file);
    if (check.kind === 'damaged' && isMeant(check.problem)) return at;
  }
}

const placeOfRow = () =>
  placeOf('call 7 call 7', folded.database, (problem) => problem.startsWith('the row'));

test('[ST33] a whole store is left alone', () => {
  placeStoreFiles(file, files);
  expect(salvageNow()).toEqual([`the database ${file} is whole: nothing to salvage`]);
  expect(readFileSync(file)).toEqual(files.database);
});

test('[ST31] a flipped bit in a row costs this row alone, and the damaged files stay', () => {
  const at = placeOfRow();
  const { lines, content } = salvage({ ...folded, database: flipBit(folded.database, at) });
  const lost = GUARDED_TABLES.map((table) => expected[table].length - content[table].length);
  expect(lost.reduce((sum, count) => sum + count)).toBe(1);
  expect(lines[0]).toMatch(/is damaged: the row .*0007( 1)? of (log|messages) is not what/);
  expect(lines).toContainEqual(expect.stringMatching(/^(log|messages): 59 rows kept, 1 lost$/));
  expect(lines.at(-1)).toBe(`the damaged files are kept as ${KEPT}`);
  expect(readFileSync(KEPT)).toEqual(flipBit(folded.database, at));
  expectPart(content);
});

test('[ST31] a page that makes no sense costs its rows alone', () => {
  const at = placeOfRow();
  const page = Math.floor(at / PAGE) * PAGE;
  const database = Buffer.from(folded.database).fill(0xa5, page, page + PAGE);
  const { content } = salvage({ ...folded, database });
  const lost = GUARDED_TABLES.map((table) => expected[table].length - content[table].length);
  expect(Math.max(...lost)).toBeGreaterThan(0);
  expect(Math.max(...lost)).toBeLessThan(24);
  expect(lost.filter((count) => count > 0)).toHaveLength(1);
  expectPart(content);
});

test('[ST32] what lies behind a bad frame of the log is brought too', () => {
  // The early frame is of a page that is written again later: nothing at all is lost.
  const { lines, content } = salvage({ log: flipBit(files.log, 32 + 24 + 500) });
  expect(content).toEqual(expected);
  expect(readFileSync(`${KEPT}-wal`)).toEqual(flipBit(files.log, 32 + 24 + 500));
  expect(lines).toContain('log: 60 rows kept, 0 lost');
  expect(lines.at(-1)).toBe(`the damaged files are kept as ${KEPT} and ${KEPT}-wal`);
});

test('[ST32] a damaged header of the log costs nothing', () => {
  for (const at of [2, 9, 17, 25]) {
    expect(salvage({ log: flipBit(files.log, at) }).content).toEqual(expected);
  }
});

test('[ST32] damaged definitions and a damaged header of the database cost nothing', () => {
  const definition = files.database.indexOf('TABLE log');
  for (const at of [3, 17, 57, definition, definition + 8]) {
    expect(salvage({ database: flipBit(files.database, at) }).content).toEqual(expected);
  }
});

test('[ST31] wherever the bit is: nothing is made up, and the store opens', () => {
  const random = createRandom(31);
  for (let turn = 0; turn < 60; turn += 1) {
    const which = turn % 2 === 0 ? 'database' : 'log';
    const { content } = salvage({ [which]: flipBit(files[which], random(files[which].length)) });
    expectPart(content);
    expect(content.log.length).toBeGreaterThan(30);
  }
});

test('[ST39] a list of free pages counts only where no page is older than the rest', () => {
  const seen = new Set<boolean>();
  for (let at = 32 + 24 + 500; at < files.log.length; at += 5 * (24 + PAGE)) {
    placeStoreFiles(file, { ...files, log: flipBit(files.log, at) });
    const { stalePages, freePages } = assemblePages(file, `${file}.pages`);
    expect(freePages !== undefined).toBe(stalePages === 0);
    seen.add(stalePages === 0);
  }
  expect(seen.size).toBe(2);
});

test('[ST31] wherever the database ends: nothing is made up, and the store opens', () => {
  const { length } = folded.database;
  for (let end = 64; end < length; end += Math.floor(length / 40 / 64) * 64) {
    expectPart(salvage({ ...folded, database: folded.database.subarray(0, end) }).content);
  }
});

test('[ST31] commits that are nowhere any more are counted', () => {
  placeStoreFiles(file, { database: files.database, mark: files.mark });
  expect(salvageNow()).toContain('what was written after position 30, up to 60, is not in it');
  expect(readContent(file).log).toHaveLength(30);
});

test('[ST31] where nothing is left but the mark, the salvaged store is empty', () => {
  placeStoreFiles(file, { mark: files.mark });
  expect(salvageNow()).toContain('what was written after position 0, up to 60, is not in it');
  expect(readContent(file).log).toEqual([]);
});

test('[ST21] [ST31] when commits are missing, numbers that they may have reserved are not given again', async () => {
  placeStoreFiles(file, { database: files.database, mark: files.mark });
  const before = new DatabaseSync(file);
  before.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('next_seq', 5000)");
  before.close();
  salvageNow();
  const store = createSqliteStore({ file });
  try {
    expect(await store.reserveSeqs(1)).toBe(now());
  } finally {
    await store.close();
  }
});

test('[ST33] a salvage that was cut off between its steps is finished by the next one', () => {
  const damaged = flipBit(files.log, 5_000);
  const { content } = salvage({ log: damaged });
  // As after the first rename: the new file is complete, and nothing is in its place.
  const rescued = readFileSync(file);
  placeStoreFiles(file, { log: damaged, mark: files.mark });
  writeFileSync(`${file}.salvaged`, rescued);
  expect(checkStoreFile(file).kind).toBe('damaged');
  salvageNow();
  expect(readContent(file)).toEqual(content);
  // And without the mark, whose file another tool may have left out.
  placeStoreFiles(file, {});
  writeFileSync(`${file}.salvaged`, rescued);
  expect(checkStoreFile(file).kind).toBe('damaged');
  salvageNow();
  expect(readContent(file)).toEqual(content);
  expect(readdirSync(dirname(file)).filter((name) => name.includes('salvaged'))).toEqual([]);
});

test('[ST33] what an older salvage left does not count while there is a database', () => {
  placeStoreFiles(file, { ...files, log: flipBit(files.log, 5_000) });
  writeFileSync(`${file}.salvaged`, 'of another time');
  salvageNow();
  expectPart(readContent(file));
});

test('[ST31] a salvaged store goes on: it is written, searched, and its numbers rise', async () => {
  placeStoreFiles(file, files);
  const before = new DatabaseSync(file);
  before.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('next_seq', 5000)");
  before.exec("UPDATE runs SET title = title; UPDATE messages SET parts = '[]' WHERE position = 3");
  before.close();
  salvageNow();
  const store = createSqliteStore({ file });
  try {
    await store.write(changesOf(60));
    expect(await store.reserveSeqs(1)).toBe(5_000);
    const found = await store.listCalls({ limit: 200, text: 'call' });
    expect(found.calls).toHaveLength(61);
    expect((await store.listMessages({ runId: 'run_1', maxChars: 1e6 })).messages).toHaveLength(60);
  } finally {
    await store.close();
  }
});
