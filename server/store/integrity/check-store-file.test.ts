import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, test } from 'vitest';
import { sampleCall } from '#lib/call/testing/sample-call';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { createSqliteStore } from '../sqlite-store.ts';
import {
  type Content,
  changesOf,
  classifyStoreFiles,
  createRandom,
  flipBit,
  makeStoreFiles,
  placeStoreFiles,
  readContent,
  readStoreFiles,
  type StoreFiles,
  sourceOf,
  type Verdict,
} from '../testing/store-files.ts';
import { appendCall } from '../testing/store-setup.ts';
import { checkStoreFile } from './check-store-file.ts';
import { walFrames } from './scan-wal.ts';
import { parseWalHeader } from './wal-format.ts';

const dir = sharedTempDir();
const file = join(dir, 'faulty', 'callboard.db');
let files: StoreFiles;
let expected: Content;

beforeAll(async () => {
  files = await makeStoreFiles(join(dir, 'made'), 24);
  placeStoreFiles(file, files);
  expected = readContent(file);
});

function classify(changed: Partial<StoreFiles>): Verdict {
  placeStoreFiles(file, { ...files, ...changed });
  return classifyStoreFiles(file, expected);
}

/** The kinds of verdicts, and how often each came. */
function tally(verdicts: readonly Verdict[]): Partial<Record<Verdict['kind'], number>> {
  return Object.fromEntries(
    Map.groupBy(verdicts, ({ kind }) => kind)
      .entries()
      .map(([kind, all]) => [kind, all.length]),
  );
}

test('[ST28] the files of a server that was killed are whole, and hold all that was acknowledged', () => {
  expect(expected.log).toHaveLength(24);
  expect(classify({})).toEqual({ kind: 'same' });
});

test.each(['database', 'log'] as const)(
  '[ST28] a flipped bit anywhere in the %s is refused, or changes nothing',
  (which) => {
    const random = createRandom(26);
    const verdicts = Array.from({ length: 200 }, () => {
      const bytes = files[which];
      return classify({ [which]: flipBit(bytes, random(bytes.length), random(8)) });
    });
    const { refused = 0, same = 0, ...others } = tally(verdicts);
    expect(others).toEqual({});
    expect(refused).toBeGreaterThan(0);
    expect(refused + same).toBe(200);
  },
);

test.each(['database', 'log'] as const)(
  '[ST28] a %s that is cut anywhere is refused, or nothing of it was needed',
  (which) => {
    const random = createRandom(27);
    const verdicts = Array.from({ length: 120 }, () => {
      const bytes = files[which];
      return classify({ [which]: bytes.subarray(0, random(Math.floor(bytes.length / 64)) * 64) });
    });
    const { refused = 0, same = 0, ...others } = tally(verdicts);
    expect(others).toEqual({});
    expect(refused).toBeGreaterThan(60);
    expect(refused + same).toBe(120);
  },
);

test('[ST27] [ST28] without the mark, a flipped bit costs the last transaction at most, and it is told', () => {
  const random = createRandom(28);
  for (let turn = 0; turn < 100; turn += 1) {
    placeStoreFiles(file, {
      database: files.database,
      log: flipBit(files.log, random(files.log.length), random(8)),
    });
    const verdict = classifyStoreFiles(file, expected);
    expect(['refused', 'torn', 'same']).toContain(verdict.kind);
    if (verdict.kind === 'torn') expect(verdict.lostCalls).toBeLessThanOrEqual(1);
  }
});

test.each<[string, Partial<Record<keyof StoreFiles, Buffer | undefined>>, RegExp]>([
  ['a database that is gone, with its log', { database: undefined }, /is missing, while its log/],
  ['an empty database with a log', { database: Buffer.alloc(0) }, /is empty .* while its log/],
  ['nothing but the mark', { database: undefined, log: undefined }, /is missing, while .*\.mark/],
  [
    'an empty database',
    { database: Buffer.alloc(0), log: undefined },
    /is empty \(byte 0\), while/,
  ],
  ['a log that is gone', { log: undefined }, /ends at position 12, while .*\.mark tells of 24/],
])('[ST29] %s is not taken for a new store', (_, changed, problem) => {
  const placed: Partial<StoreFiles> = Object.fromEntries(
    Object.entries({ ...files, ...changed }).filter(([, bytes]) => bytes !== undefined),
  );
  placeStoreFiles(file, placed);
  const check = checkStoreFile(file);
  expect(check).toMatchObject({ kind: 'damaged', problem: expect.stringMatching(problem) });
});

test('[ST28] what a power cut left half-copied out of a whole log counts from the log', () => {
  const random = createRandom(29);
  const log = sourceOf(files.log);
  const header = parseWalHeader(files.log);
  const copied = new Set(header ? [...walFrames(log, header)].map(({ page }) => page) : []);
  expect(copied).toContain(1);
  for (let turn = 0; turn < 20; turn += 1) {
    const database = Buffer.from(files.database);
    for (const page of copied) {
      for (let at = (page - 1) * 4_096; at < page * 4_096; at += 512) {
        if (at < database.length && random(3) === 0) database.fill(random(256), at, at + 512);
      }
    }
    expect(classify({ database })).toEqual({ kind: 'same' });
  }
});

test('[ST28] a row that goes on behind the end of the database is damage, and no trouble of the disk', async () => {
  const made = join(dir, 'long', 'callboard.db');
  mkdirSync(dirname(made));
  const call = sampleCall({ args: { text: 'long'.repeat(120_000) } });
  for (const change of [appendCall(call), ...changesOf(1)]) {
    const store = createSqliteStore({ file: made, scheduleIndexing: () => () => {} });
    await store.write([change]);
    placeStoreFiles(file, readStoreFiles(made));
    await store.close();
  }
  const { database, log, mark } = readStoreFiles(file);
  expect(checkStoreFile(file).kind).toBe('whole');
  const size = database.lastIndexOf('longlong');
  placeStoreFiles(file, { database: database.subarray(0, size), log, mark });
  expect(checkStoreFile(file)).toEqual({
    kind: 'damaged',
    problem: `it ends at byte ${size}, in the middle of a row`,
  });
});

test('[ST29] a directory without any of the files is a new store', () => {
  placeStoreFiles(file, {});
  expect(checkStoreFile(file)).toEqual({ kind: 'new' });
});

test('[ST29] a mark that was torn while it was written proves nothing', () => {
  expect(classify({ mark: files.mark.subarray(0, 20) })).toEqual({ kind: 'same' });
});

test.each(['log', 'idempotency', 'messages', 'sessions'] as const)(
  '[ST30] a changed value in %s is found, and the row is named',
  (table) => {
    placeStoreFiles(file, files);
    const column = {
      log: 'events',
      idempotency: 'call_id',
      messages: 'parts',
      sessions: 'expires_at',
    }[table];
    const database = new DatabaseSync(file);
    database.exec(`UPDATE ${table} SET ${column} = ${column} || '1'
    WHERE ${column} = (SELECT min(${column}) FROM ${table})`);
    database.close();
    const check = checkStoreFile(file);
    expect(check).toMatchObject({
      kind: 'damaged',
      problem: expect.stringMatching(
        new RegExp(`^the row .*0\\d*( 1)? of ${table} is not what was written`, 's'),
      ),
    });
  },
);

test('[ST28] a damaged store is left as it is', () => {
  const log = flipBit(files.log, 5_000);
  const database = flipBit(files.database, 50_000);
  placeStoreFiles(file, { ...files, log });
  expect(checkStoreFile(file).kind).toBe('damaged');
  expect(readStoreFiles(file)).toEqual({ ...files, log });
  placeStoreFiles(file, { ...files, database });
  checkStoreFile(file);
  expect(readStoreFiles(file)).toEqual({ ...files, database });
});
