import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { copyDataDir } from './commands/backup.ts';
import { cli, emptyFolder } from './testing/setup-cli.ts';

/** A data directory whose database is open in another connection, as a server has it. */
function dataDir() {
  const dir = join(emptyFolder(), 'data');
  mkdirSync(join(dir, 'blobs'), { recursive: true });
  const database = new DatabaseSync(join(dir, 'callboard.db'));
  onTestFinished(() => database.close());
  database.exec('PRAGMA journal_mode=WAL; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)');
  for (const name of [
    'lock.db',
    'address',
    'token',
    'instance',
    'blobs/blob_1',
    'callboard.db.mark',
    'callboard.db.clean',
  ]) {
    writeFileSync(join(dir, name), name);
  }
  return { dir, database };
}

const rowsOf = (folder: string) => {
  const copy = new DatabaseSync(join(folder, 'callboard.db'), { readOnly: true });
  const [row] = copy.prepare('SELECT count(*) AS count FROM t').all();
  copy.close();
  return row?.count;
};

test('[CX10] the copy has what was committed, the files and the keys; not the lock or the address', async () => {
  const { dir, database } = dataDir();
  database.exec('BEGIN; INSERT INTO t VALUES (2)');
  const cwd = emptyFolder();
  symlinkSync('/etc/hostname', join(dir, 'link'));
  const { out, code } = await cli(['backup', 'copy', '--data-dir', dir, '--json'], { cwd });
  database.exec('COMMIT');
  expect(code).toBe(0);
  const to = join(cwd, 'copy');
  expect(readdirSync(to).sort()).toEqual([
    'blobs',
    'callboard.db',
    'callboard.db.mark',
    'instance',
    'token',
  ]);
  expect(readFileSync(join(to, 'blobs', 'blob_1'), 'utf8')).toBe('blobs/blob_1');
  expect(rowsOf(to)).toBe(1);
  const { parts } = JSON.parse(out);
  expect(parts).toContainEqual({ name: 'blobs', bytes: 12, files: 1 });
});

test('[CX10] a folder that is not empty is refused, and left as it is', async () => {
  const { dir } = dataDir();
  const cwd = emptyFolder();
  writeFileSync(join(cwd, 'mine'), 'kept');
  const { code, errors } = await cli(['backup', '.', '--data-dir', dir], { cwd });
  expect({ code, errors }).toEqual({ code: 2, errors: expect.stringContaining('is not empty') });
  expect(readdirSync(cwd)).toEqual(['mine']);
});

test('[CX10] a copy of a damaged database is no backup', async () => {
  const { dir, database } = dataDir();
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const file = join(dir, 'callboard.db');
  const bytes = readFileSync(file);
  // The second page, of the first table, behind its header.
  bytes.fill(0xff, 4_096, 4_096 + 64);
  writeFileSync(file, bytes);
  const { code, errors } = await cli(['backup', 'copy', '--data-dir', dir]);
  expect({ code, errors }).toEqual({ code: 1, errors: expect.stringMatching(/damaged|malformed/) });
});

test('[CX1] what is no data directory is not found', async () => {
  const { code, errors } = await cli(['backup', 'copy', '--data-dir', emptyFolder()]);
  expect({ code, errors }).toEqual({ code: 5, errors: expect.stringContaining('no callboard.db') });
});

test('[CX10] the mark of how much was committed is older than the copy, so that it is true of it', async () => {
  const { dir } = dataDir();
  const { signal } = new AbortController();
  const parts = await copyDataDir({ from: dir, to: emptyFolder(), signal });
  const names = parts.map(({ name }) => name);
  expect(names.slice(0, 3)).toEqual(['callboard.db.mark', 'callboard.db', 'blobs']);
});
