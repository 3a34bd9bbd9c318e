import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { isLogInDatabase } from './check-store-file.ts';
import { withFile } from './file-bytes.ts';

const dir = sharedTempDir();

const check = (log: string, database: string) =>
  withFile(log, (one) => withFile(database, (other) => isLogInDatabase(one, other)));

test('[ST22] a log under a torn header is in the database once it was checkpointed, and not before', () => {
  const file = join(dir, 'a.db');
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode=WAL; CREATE TABLE a (b); INSERT INTO a VALUES (1)');
  const [log, copy] = [join(dir, 'log'), join(dir, 'copy')];
  copyFileSync(`${file}-wal`, log);
  copyFileSync(file, copy);
  expect(check(log, copy)).toBe(false);
  database.exec('PRAGMA wal_checkpoint(FULL)');
  copyFileSync(file, copy);
  expect(check(log, copy)).toBe(true);
  database.exec('INSERT INTO a VALUES (2)');
  copyFileSync(file, copy);
  copyFileSync(`${file}-wal`, log);
  database.close();
  expect(check(log, copy)).toBe(false);
  // Its first frame is garbage, too, and tells of a page that no database has.
  writeFileSync(log, readFileSync(log).fill(0xfe, 0, 36).fill(1, 36, 40));
  expect(check(log, copy)).toBe(false);
  writeFileSync(copy, '');
  expect(check(log, copy)).toBe(false);
});
