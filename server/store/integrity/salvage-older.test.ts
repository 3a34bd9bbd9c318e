import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { sampleCall } from '#lib/call/testing/sample-call';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { OLDER_GUARDS } from '../before-log/older-call.ts';
import { olderFile } from '../before-log/older-file.ts';
import { migrate } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { defineRowChecksum, rowChecksum } from '../row-checksum.ts';
import { BEFORE_MOVE } from '../schema.ts';
import { createSqliteStore } from '../sqlite-store.ts';
import { OLDER_STORES } from '../testing/older-store.ts';
import { placeStoreFiles } from '../testing/store-files.ts';
import { checkStoreFile } from './check-store-file.ts';
import { salvageStore } from './salvage-store.ts';

const dir = sharedTempDir();
const file = join(dir, 'faulty', 'callboard.db');
const PAGE = 4_096;

const { deadlines, card } = sampleCall();

/** Ended calls, as the columns of that time have them. */
function insertOlderCalls(database: DatabaseSync, count: number, given: object = {}) {
  const names = database.prepare("SELECT name FROM pragma_table_info('tool_calls')").all();
  const there = new Set(names.map(({ name }) => String(name)));
  for (let number = 1; number <= count; number += 1) {
    const row: Record<string, string | number> = {
      id: idOf(number),
      run_id: 'run_1',
      tool_name: 'echo.text',
      source: 'client',
      status: 'SUCCEEDED',
      requested_by: 'operator',
      granted: 0,
      timeout_ms: 30_000,
      created_at: number,
      deadlines: JSON.stringify(deadlines),
      annotations: '{}',
      attachments: '[]',
      args: '{"text":"hi"}',
      card: JSON.stringify(card),
      card_shows: 1,
      ...given,
    };
    for (const { sum, of } of OLDER_GUARDS.tool_calls.guards) {
      if (there.has(sum)) row[sum] = rowChecksum(of.map((name) => row[name]));
    }
    database
      .prepare(
        `INSERT INTO tool_calls (${Object.keys(row)}) VALUES (${Object.keys(row).map(() => '?')})`,
      )
      .run(...Object.values(row));
  }
}

const idOf = (number: number) => `tc_${String(number).padStart(4, '0')}`;

function makeOlder(name: string, steps: typeof MIGRATIONS, calls = 400, given = {}) {
  const older = join(dir, name);
  const database = new DatabaseSync(older);
  defineRowChecksum(database);
  migrate(database, steps);
  database.exec('BEGIN');
  insertOlderCalls(database, calls, given);
  database.exec('COMMIT');
  return { older, database };
}

const salvage = () => salvageStore({ file, now: Date.now, report: () => {} });

async function expectCalls(numbers: readonly number[]) {
  expect(checkStoreFile(file).kind).toBe('whole');
  const store = createSqliteStore({ file });
  try {
    const found: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await store.listCalls({ limit: 200, text: 'hi', ...(cursor && { cursor }) });
      found.push(...page.calls.map(({ id }) => id));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(found.reverse()).toEqual(numbers.map(idOf));
  } finally {
    await store.close();
  }
}

const numbersTo = (count: number) => Array.from({ length: count }, (_, place) => place + 1);

test('[ST31] [ST34] rows of before a column was added are found where they lie', async () => {
  const { older, database } = makeOlder('shorter', MIGRATIONS.slice(0, 3));
  migrate(database, BEFORE_MOVE);
  const find = "SELECT rootpage FROM sqlite_schema WHERE name = 'tool_calls'";
  const at = (Number(database.prepare(find).get()?.rootpage) - 1) * PAGE;
  database.close();
  placeStoreFiles(file, { database: readFileSync(older).fill(0, at, at + PAGE) });
  expect(salvage()).toContain('tool_calls: 400 rows kept, 0 lost');
  await expectCalls(numbersTo(400));
});

test('[ST31] [ST34] of a store whose calls are in the log in part, all that is whole is brought', async () => {
  const { older, database } = makeOlder('parted', MIGRATIONS.slice(0, 20), 700);
  migrate(database, BEFORE_MOVE);
  database.exec(`CREATE TEMP TABLE stale AS SELECT * FROM tool_calls WHERE id = '${idOf(3)}'`);
  database.exec(`CREATE TRIGGER cut BEFORE INSERT ON log WHEN new.call_id = '${idOf(620)}'
    BEGIN SELECT raise(ABORT, 'cut'); END`);
  expect(() => migrate(database, MIGRATIONS)).toThrow('cut');
  database.exec('DROP TRIGGER cut');
  expect(database.prepare('SELECT count(*) AS calls FROM log').get()).toEqual({ calls: 500 });
  for (const sql of [
    // As a page of an earlier state has it: it is in the log already.
    'INSERT INTO tool_calls SELECT * FROM stale',
    `UPDATE log SET events = replace(events, 'hi', 'ho') WHERE call_id = '${idOf(7)}'`,
    `UPDATE tool_calls SET args = '{}' WHERE id = '${idOf(610)}'`,
  ]) {
    expect(database.prepare(sql).run().changes).toBe(1);
  }
  database.close();
  placeStoreFiles(file, { database: readFileSync(older) });
  writeFileSync(olderFile(file), 'the store of before');
  const lines = salvage();
  expect(lines).toContain('log: 499 rows kept, 1 lost');
  expect(lines).toContain('tool_calls: 200 rows kept, 1 lost');
  await expectCalls(numbersTo(700).filter((number) => number !== 7 && number !== 610));
  expect(existsSync(olderFile(file))).toBe(false);
  const kept = readdirSync(dirname(file)).find((name) => name.endsWith(olderFile('')));
  expect(readFileSync(join(dirname(file), String(kept)), 'utf8')).toBe('the store of before');
});

test.each(Object.entries(OLDER_STORES))(
  '[ST31] [ST34] [ST85] of a store of %s a damaged call costs itself, and the open ones are ended',
  async (_, older) => {
    const recordsOf = async () => {
      const store = createSqliteStore({ file });
      const { calls } = await store.listCalls({ limit: 200 });
      await store.close();
      return new Map(calls.map((call) => [call.id, call]));
    };
    placeStoreFiles(file, older());
    const before = await recordsOf();
    const [lost] = [...before.values()].filter(({ completedAt }) => completedAt !== undefined);
    placeStoreFiles(file, older());
    const database = new DatabaseSync(file);
    const change = database.prepare("UPDATE tool_calls SET args = args || ' ' WHERE id = ?");
    expect(change.run(lost?.id ?? '').changes).toBe(1);
    database.close();
    expect(salvage().join()).toMatch(/tool_calls: \d+ rows kept, 1 lost/);
    const after = await recordsOf();
    expect(after.size).toBe(before.size - 1);
    let ended = 0;
    for (const [id, call] of after) {
      if (before.get(id)?.completedAt !== undefined) expect(call).toEqual(before.get(id));
      else {
        ended += 1;
        expect(call.error).toMatchObject({ code: 'interrupted', executed: 'unknown' });
      }
    }
    expect(ended).toBeGreaterThan(2);
  },
);
