import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { startReadThread } from './read-thread.ts';
import { StoreBusyError } from './store-errors.ts';

function setup(limitMs?: number, workerPath = new URL('./read-worker.ts', import.meta.url)) {
  const dir = tempDir();
  const file = join(dir, 'a.db');
  const writer = new DatabaseSync(file);
  onTestFinished(() => void (writer.isOpen && writer.close()));
  writer.exec('PRAGMA journal_mode=WAL; CREATE TABLE words (word TEXT)');
  const thread = startReadThread({
    file,
    workerPath,
    ...(limitMs === undefined ? {} : { limitMs }),
  });
  onTestFinished(() => thread.close());
  /** The rows of a query, and how many of them may be read. */
  const ask = (text: string, maxChars?: number) =>
    thread.rows(sql<{ word: string }>`${sql.raw(text)}`, maxChars);
  return { writer, file, thread, ask };
}

const ALL = 'select word from words order by word';
/** Takes seconds, and gives no row before it is over. */
const LONG = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 12000000)
  select count(*) as word from n`;

test('[ST43] a query sees what was written before, and what is written later', async () => {
  const { writer, ask } = setup();
  expect(await ask(ALL)).toMatchObject({ rows: [] });
  writer.exec("INSERT INTO words VALUES ('one')");
  expect(await ask(ALL)).toMatchObject({ rows: [{ word: 'one' }], isCut: false });
});

test('[ST43] of more than may be read there is the beginning, and the first row always', async () => {
  const { writer, ask } = setup();
  writer.exec("INSERT INTO words VALUES ('aaaa'), ('bbbb'), ('cccc')");
  expect(await ask(ALL, 8)).toEqual({
    ok: true,
    rows: [{ word: 'aaaa' }, { word: 'bbbb' }],
    isCut: true,
  });
  expect(await ask(ALL, 12)).toMatchObject({ rows: { length: 3 }, isCut: false });
  expect(await ask(ALL, 1)).toMatchObject({ rows: [{ word: 'aaaa' }], isCut: true });
});

test('[ST43] a query cannot write, and one that fails fails alone', async () => {
  const { ask } = setup();
  const write = ask("insert into words values ('two')");
  const wrong = ask('select word from nowhere');
  const right = ask(ALL);
  await expect(write).rejects.toThrow(/readonly database/);
  await expect(wrong).rejects.toThrow(/no such table/);
  expect(await right).toMatchObject({ rows: [] });
});

test('[ST43] a query over its time ends, and those behind it are answered by another thread', async () => {
  const { writer, ask, thread } = setup(700);
  writer.exec("INSERT INTO words VALUES ('one')");
  await expect(ask(LONG)).rejects.toBeInstanceOf(StoreBusyError);
  // How long SQLite still needs to let go of the thread is its own affair.
  await expect
    .poll(() => ask(ALL).catch(() => undefined), { timeout: 15_000 })
    .toMatchObject({ rows: [{ word: 'one' }] });
  await thread.close();
  await expect(ask(ALL)).rejects.toBeInstanceOf(StoreBusyError);
});

test('[ST43] the time that a thread takes to start does not count', async () => {
  const { writer, ask } = setup(200, new URL('./testing/slow-read-worker.ts', import.meta.url));
  writer.exec("INSERT INTO words VALUES ('one')");
  expect(await ask(ALL)).toMatchObject({ rows: [{ word: 'one' }] });
  await expect(ask(LONG)).rejects.toBeInstanceOf(StoreBusyError);
});

test('[ST43] queries that wait for one over its time wait no longer than theirs', async () => {
  const { ask } = setup(250);
  const asked = [ask(LONG), ask(ALL), ask(ALL)];
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(asked.map(() => 'rejected'));
});
