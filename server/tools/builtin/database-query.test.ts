import { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { bundledWorker } from '../../testing/bundled-worker.ts';
import { ToolError } from '../define-tool.ts';
import { runBuiltin } from '../testing/run-builtin.ts';
import { createDatabaseQuery } from './database-query.ts';

const PATIENCE_MS = 240_000;
vi.setConfig({ testTimeout: PATIENCE_MS });

const dir = sharedTempDir();
const databasePath = join(dir, 'data.db');
const workerPath = bundledWorker('database-worker.mjs');
const tool = createDatabaseQuery({
  databasePath,
  secretTables: ['sessions'],
  about: 'a test.',
  workerPath,
  // A machine may be busy; what is about time has tools of its own.
  timeoutMs: PATIENCE_MS,
});
/** One with a line of its own. */
const createAnother = () =>
  createDatabaseQuery({
    databasePath,
    secretTables: [],
    about: 'a test.',
    workerPath,
    timeoutMs: PATIENCE_MS,
  });
const query = (sql: string, params?: unknown[], signal = new AbortController().signal) =>
  runBuiltin(tool, { sql, ...(params ? { params } : {}) }, { signal });
const rowsOf = async (sql: string, params?: unknown[]) => {
  const output = await query(sql, params);
  return output instanceof Object && 'rows' in output ? output.rows : undefined;
};
const hash = () => createHash('sha256').update(readFileSync(databasePath)).digest('hex');
const ENDLESS =
  'with recursive c(x) as (select 1 union all select x + 1 from c where x < 1000000000000) select count(*) from c';

/** Every process that this one started, and the most of them that ran the worker at once. */
const started: ChildProcess[] = [];
let peak = 0;
const note = (message: unknown) => {
  if (!(message instanceof Object && 'process' in message)) return;
  if (message.process instanceof ChildProcess) started.push(message.process);
  // What it runs is known once it has been started.
  queueMicrotask(() => {
    peak = Math.max(peak, workers().length);
  });
};
/** Processes of ours that still run the worker. */
const workers = () =>
  started.filter(
    ({ spawnargs, exitCode, signalCode }) =>
      spawnargs.includes(workerPath) && exitCode === null && signalCode === null,
  );

beforeAll(() => {
  subscribe('child_process', note);
  const database = new DatabaseSync(databasePath);
  database.exec(`
    create table items (id integer primary key, name text, price real, data blob);
    insert into items values (1, 'one', 1.5, x'0102'), (2, 'two', null, null), (9007199254740993, 'big', 1e999, null);
    create table sessions (secret text);
    insert into sessions values ('hidden');
    create view peek as select secret from sessions;
  `);
  database.close();
});
afterAll(() => void unsubscribe('child_process', note));

test('[TB3] one reading statement gives its rows', async () => {
  expect(
    await query('select id, name, price, data from items order by id;  -- all of them'),
  ).toEqual({
    columns: ['id', 'name', 'price', 'data'],
    rows: [
      [1, 'one', 1.5, '[blob of 2 bytes]'],
      [2, 'two', null, null],
      ['9007199254740993', 'big', 'Infinity', null],
    ],
    row_count: 3,
    truncated: false,
  });
  expect(await rowsOf('with a as (select 1 + 1 as two) select two from a')).toEqual([[2]]);
  expect(await rowsOf('select name from items where id = ? and ?', [2, true])).toEqual([['two']]);
  expect(await rowsOf("select name from sqlite_schema where type = 'table'")).toContainEqual([
    'items',
  ]);
  expect(await rowsOf('values (1), (2)')).toEqual([[1], [2]]);
});

test('[TB3] T111 T112: nothing is written, attached, or read from elsewhere', async () => {
  const before = [hash(), readdirSync(dir).sort()];
  for (const sql of [
    'drop table items',
    'delete from items',
    'insert into items (name) values (1) returning *',
    'update items set name = 1 returning id',
    'with x as (select 1) delete from items',
    'select 1; drop table items',
    'select 1; select 2',
    'select 1 /* */ ; /* x */ select 2',
    `attach database '${dir}/other.db' as x`,
    `/* a */ AtTaCh '${dir}/other.db' as x`,
    'detach database main',
    'pragma writable_schema = 1',
    'pragma table_info(items)',
    "select * from pragma_table_info('items')",
    'select * from dbstat',
    `vacuum into '${dir}/copy.db'`,
    'vacuum',
    'begin',
    'create temp table x (a)',
    'create virtual table x using fts5(a)',
    'reindex',
    'analyze',
    "select load_extension('x')",
    "select writefile('x', 'y')",
    "select fts3_tokenizer('simple')",
    'select 1\0; drop table items',
    '-- nothing',
    'selec 1',
  ]) {
    await expect(query(sql), sql).rejects.toThrow(ToolError);
  }
  expect([hash(), readdirSync(dir).sort()]).toEqual(before);
});

test('[TB4] T112: secret tables are read by no way', async () => {
  for (const sql of [
    'select * from sessions',
    'select count(*) from main.SESSIONS',
    'select "secret" from [Sessions]',
    'select 1 where exists (select 1 from sessions)',
    'select * from peek',
    'select name, (select secret from sessions) from items',
    'with s as (select * from sessions) select * from s',
    'select * from items join sessions',
  ]) {
    await expect(query(sql), sql).rejects.toThrow(/"sessions" cannot be read/);
  }
});

test('[TB5] a cancelled query ends with its process', async () => {
  const cancel = new AbortController();
  const stopped = expect(query(ENDLESS, undefined, cancel.signal)).rejects.toThrow(/stopped/);
  await expect.poll(workers, { timeout: 10_000 }).toHaveLength(1);
  cancel.abort();
  await stopped;
  expect(workers()).toEqual([]);
  const cancelled = new AbortController();
  cancelled.abort();
  await expect(query('select 1', undefined, cancelled.signal)).rejects.toThrow(ToolError);
});

test('[TB5] T113: a query that never ends is stopped by the time limit of the tool', async () => {
  const hasty = createDatabaseQuery({
    databasePath,
    secretTables: [],
    about: 'a test.',
    workerPath,
    timeoutMs: 400,
  });
  expect(hasty.timeoutMs).toBe(400);
  await expect(runBuiltin(hasty, { sql: ENDLESS })).rejects.toThrow(/stopped/);
  expect(workers()).toEqual([]);
});

test('[TB5] T113: a query cannot take all memory', async () => {
  for (const sql of [
    'select length(zeroblob(900000000))',
    "select printf('%.*c', 900000000, 'x')",
    "select group_concat(hex(randomblob(1000)), '') from (with recursive c(x) as (select 1 union all select x + 1 from c limit 100000) select x from c)",
    'with recursive c(x, y) as (select 1, hex(randomblob(20000)) union select x + 1, hex(randomblob(20000)) from c) select count(*) from c',
  ]) {
    await expect(query(sql), sql).rejects.toThrow(/too big|ran out of memory/);
  }
  expect(workers()).toEqual([]);
});

test('[TB10] of 24 queries at once two run at a time, and each is answered', async () => {
  const another = createAnother();
  peak = 0;
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, at) => runBuiltin(another, { sql: `select ${at}` })),
  );
  expect(answers).toMatchObject(Array.from({ length: 24 }, (_, at) => ({ rows: [[at]] })));
  expect(peak).toBe(2);
});

test('[TB6] T113: answers are cut at a thousand rows or a mebibyte, and are marked as cut', async () => {
  const many = 'with recursive c(x) as (select 1 union all select x + 1 from c) select x from c';
  expect(await query(many)).toMatchObject({ row_count: 1_000, truncated: true });
  expect(await query(`${many} limit 1000`)).toMatchObject({ row_count: 1_000, truncated: false });
  const wide = await query(`select hex(zeroblob(50000)) from (${many} limit 100)`);
  expect(wide).toMatchObject({ row_count: 10, truncated: true });
  expect(JSON.stringify(wide).length).toBeLessThan(1024 * 1024 + 1_000);
});
