import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, test } from 'vitest';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { flipBit, makeStoreFiles, sourceOf } from '../testing/store-files.ts';
import { scanWal, walFrames } from './scan-wal.ts';
import { parseWalHeader } from './wal-format.ts';

const dir = sharedTempDir();
/** A log of twelve transactions, each of several frames. */
let log: Buffer;

beforeAll(async () => {
  log = (await makeStoreFiles(join(dir, 'made'), 24)).log;
});

const FRAME = 24 + 4_096;
const scan = (bytes: Buffer) => scanWal(sourceOf(bytes));

function framesOf(bytes: Buffer) {
  const header = parseWalHeader(bytes);
  return header ? [...walFrames(sourceOf(bytes), header)] : [];
}

/** Numbers of the frames that end a transaction. */
const commitsOf = (bytes: Buffer) =>
  framesOf(bytes)
    .filter(({ pagesAfter }) => pagesAfter > 0)
    .map(({ number }) => number);

test('[ST26] the log that SQLite wrote is read to its end', () => {
  expect(scan(log)).toEqual({ kind: 'intact', frames: (log.length - 32) / FRAME });
  expect(commitsOf(log).length).toBeGreaterThanOrEqual(12);
  expect(scan(Buffer.alloc(0))).toEqual({ kind: 'intact', frames: 0 });
});

test('[ST26] a flipped bit of any field of an early frame is damage, and its place is told', () => {
  for (const field of [0, 3, 8, 12, 16, 20, 24, 2_000, FRAME - 1]) {
    const at = 32 + FRAME + field;
    expect(scan(flipBit(log, at))).toEqual({ kind: 'damaged', frame: 2, at: 32 + FRAME });
  }
});

test('[ST26] a commit that a flipped bit made look like none is damage all the same', () => {
  const [commit = 0] = commitsOf(log).slice(-2);
  const bytes = Buffer.from(log);
  bytes.writeUInt32BE(0, 32 + (commit - 1) * FRAME + 4);
  expect(scan(bytes)).toMatchObject({ kind: 'damaged', frame: commit });
});

test('[ST26] a damaged header is damage, as SQLite would take the log for empty', () => {
  for (let at = 0; at < 32; at += 1) {
    expect(scan(flipBit(log, at))).toEqual({ kind: 'damaged', frame: 0, at: 0 });
  }
});

test('[ST27] the last transaction may be torn anywhere; what SQLite will drop of it is counted', () => {
  const commits = commitsOf(log);
  const [before = 0, last = 0] = commits.slice(-2);
  const dropped = last - before;
  for (let number = before + 1; number <= last; number += 1) {
    expect(scan(flipBit(log, 32 + (number - 1) * FRAME + 100))).toEqual({
      kind: 'torn',
      frames: before,
      droppedFrames: dropped,
      droppedBytes: dropped * FRAME,
    });
  }
  expect(scan(log.subarray(0, log.length - 64))).toEqual({
    kind: 'torn',
    frames: before,
    droppedFrames: dropped,
    droppedBytes: dropped * FRAME - 64,
  });
});

test('[ST27] a frame that lies across two sectors may have garbage where its commit would be', () => {
  const file = join(dir, 'sectors.db');
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode=WAL; CREATE TABLE t (x)');
  database.exec('INSERT INTO t VALUES (zeroblob(400000))');
  const bytes = readLog(file);
  database.close();
  const { length: frames } = framesOf(bytes);
  const starts = Array.from({ length: frames }, (_, index) => 32 + index * FRAME);
  const at = starts.find((start) => start % 512 === 504) ?? 0;
  const torn = flipBit(bytes, at - 100);
  torn.fill(0xab, at, at + 8);
  const [before = 0] = commitsOf(bytes).slice(-2);
  expect(scan(torn)).toMatchObject({
    kind: 'torn',
    frames: before,
    droppedFrames: frames - before,
  });
});

test('[ST27] frames of an earlier generation behind the end are no damage', () => {
  const file = join(dir, 'generations.db');
  const database = new DatabaseSync(file);
  database.exec(
    'PRAGMA journal_mode=WAL; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(90000))',
  );
  database.exec('PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (1)');
  const bytes = readLog(file);
  database.close();
  const frames = framesOf(bytes);
  const own = frames.filter(({ ofThisLog }) => ofThisLog).length;
  expect(frames.length).toBeGreaterThan(own);
  expect(scan(bytes)).toEqual({ kind: 'intact', frames: own });
});

function readLog(file: string): Buffer {
  const handle = openSync(`${file}-wal`, 'r');
  try {
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
}
