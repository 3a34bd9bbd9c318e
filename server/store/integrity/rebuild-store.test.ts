import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { throwingLogger } from '../../testing/error-log.ts';
import { DataDirInUseError, lockDataDir } from '../data-dir.ts';
import { openStore } from '../open-store.ts';
import { createSqliteStore } from '../sqlite-store.ts';
import { StoreDamagedError } from '../store-errors.ts';
import { OLDER_STORES } from '../testing/older-store.ts';
import { differencesOfRebuilt } from '../testing/rebuilt-differs.ts';
import { answersOf, differencesOf, type StoreAnswers } from '../testing/store-answers.ts';
import {
  flipBit,
  makeStoreFiles,
  placeStoreFiles,
  readContent,
  type StoreFiles,
} from '../testing/store-files.ts';
import { checkStoreFile, walFile } from './check-store-file.ts';
import { rebuildStore, StoreNotRebuiltError } from './rebuild-store.ts';

const root = sharedTempDir();
const dir = join(root, 'data');
const file = join(dir, 'callboard.db');
const rebuild = () => rebuildStore({ dir, report: () => {} });
let files: StoreFiles;
let before: StoreAnswers;

beforeAll(async () => {
  files = await makeStoreFiles(join(root, 'made'), 60);
  placeStoreFiles(file, files);
  before = await answers();
});
beforeEach(() => placeStoreFiles(file, files));

async function answers(): Promise<StoreAnswers> {
  const store = createSqliteStore({ file });
  try {
    return await answersOf(store);
  } finally {
    await store.close();
  }
}

test('[ST86] the new file has the log, the documents and what follows from them, and nothing else is left', async () => {
  const content = readContent(file);
  const { ino } = statSync(file);
  const lines: string[] = [];
  expect(rebuildStore({ dir, report: (line) => lines.push(line) })).toBe(file);
  expect(statSync(file).ino).not.toBe(ino);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(lines.at(-1)).toBe(`it has taken the place of ${file}`);
  expect(readContent(file)).toEqual(content);
  expect(checkStoreFile(file).kind).toBe('whole');
  expect(readdirSync(dir).sort()).toEqual(['callboard.db', 'callboard.db.mark', 'lock.db']);
  expect(differencesOf(before, await answers())).toEqual([]);
});

test('[ST86] what was lost of what follows is there again', async () => {
  const database = new DatabaseSync(file);
  database.exec('DELETE FROM calls WHERE call_no % 2 = 0; UPDATE calls SET tool_name = 1');
  database.exec("INSERT INTO tool_call_text (tool_call_text) VALUES ('delete-all')");
  database.close();
  expect(differencesOf(before, await answers())).not.toEqual([]);
  rebuild();
  expect(differencesOf(before, await answers())).toEqual([]);
});

test('[ST86] a damaged store is left as it is', () => {
  const damaged = flipBit(files.log, 5_000);
  placeStoreFiles(file, { ...files, log: damaged });
  expect(rebuild).toThrow(StoreDamagedError);
  expect(rebuild).toThrow(/--salvage/);
  expect(readFileSync(file)).toEqual(files.database);
  expect(readFileSync(walFile(file))).toEqual(damaged);
});

test('[ST86] a directory that a server has is left as it is', () => {
  const lock = lockDataDir(dir);
  try {
    expect(rebuild).toThrow(DataDirInUseError);
  } finally {
    lock.release();
  }
});

test('[ST86] it is refused where it would lose something, or has nothing to begin with', () => {
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE of_a_person (note TEXT)');
  database.close();
  expect(rebuild).toThrow(/has of_a_person/);
  placeStoreFiles(file, OLDER_STORES['002_checksums']?.() ?? {});
  expect(rebuild).toThrow(/older version/);
  placeStoreFiles(file, {});
  expect(rebuild).toThrow(/no database/);
  rmSync(dir, { recursive: true });
  expect(rebuild).toThrow(StoreNotRebuiltError);
  mkdirSync(dirname(file), { recursive: true });
});

test.each(Object.entries(OLDER_STORES))(
  '[ST86] [ST34] what a store of the version %s becomes is the same when it is made anew',
  async (_, older) => {
    placeStoreFiles(file, older());
    expect(await differencesOfRebuilt(dir)).toEqual([]);
  },
);

const STEPS = 4;

test('[ST86] killed at any step it leaves the old or the new file, whole', async () => {
  const program = join(import.meta.dirname, '../testing/rebuild-until-killed.ts');
  const run = (at: number) =>
    promisify(execFile)(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      program,
      dir,
      String(at),
    ]);
  expect((await run(0)).stdout).toBe(String(STEPS));
  for (let at = 1; at <= STEPS; at += 1) {
    placeStoreFiles(file, files);
    await expect(run(at)).rejects.toMatchObject({ signal: 'SIGKILL' });
    expect(checkStoreFile(file).kind).toBe('whole');
    expect(differencesOf(before, await answers())).toEqual([]);
  }
  placeStoreFiles(file, files);
  await expect(run(2)).rejects.toMatchObject({ signal: 'SIGKILL' });
  rebuild(); // Over what that one left.
  expect(differencesOf(before, await answers())).toEqual([]);
});

test('[ST86] [ST60] the next start does not trust the new file for what it noted of the old one', async () => {
  const open = () =>
    openStore({
      ...{ file, salvage: false, now: Date.now, logger: throwingLogger, onFailed() {} },
      workerPath: (name) => fileURLToPath(new URL(`../${name}.ts`, import.meta.url)),
    });
  await open().close();
  rebuild();
  const database = new DatabaseSync(file);
  database.exec("UPDATE log SET events = events || ' ' WHERE version = 1");
  database.close();
  expect(open).toThrow(StoreDamagedError);
});
