import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { changed } from '#lib/call/testing/sample-call';
import { toRecord } from '#lib/call/view';
import { tempDir } from '#lib/testing/temp-dir';
import { toWireEvent } from '../../http/to-wire-call.ts';
import { checkStoreFile } from '../integrity/check-store-file.ts';
import { salvageStore } from '../integrity/salvage-store.ts';
import { migrate, StoreTooNewError } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { defineRowChecksum } from '../row-checksum.ts';
import { createSqliteStore, type Store } from '../sqlite-store.ts';
import type { CallQuery } from '../store.ts';
import { OLDER_STORES } from '../testing/older-store.ts';
import { createRandom, placeStoreFiles } from '../testing/store-files.ts';
import { appendCall } from '../testing/store-setup.ts';
import { OLDER_GUARDS } from './older-call.ts';
import { keepOlderFile, olderFile } from './older-file.ts';

function setup(name: string) {
  const dir = tempDir();
  const file = join(dir, 'data', 'callboard.db');
  const { answers, ...files } = OLDER_STORES[name]?.() ?? expect.fail(`no store ${name}`);
  placeStoreFiles(file, files);
  const notes: string[] = [];
  const open = (): Store => {
    const store = createSqliteStore({ file, log: (note) => void notes.push(note) });
    onTestFinished(() => store.close());
    return store;
  };
  return { file, open, answers, notes };
}

/** As it went over the wire. */
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const FILTERS: Readonly<Record<string, (value: string) => Partial<CallQuery>>> = {
  run_id: (runId) => ({ runId }),
  status: (status) => ({ status: status as NonNullable<CallQuery['status']> }),
  tool: (tool) => ({ tool }),
  client: (client) => ({ client }),
  q: (text) => ({ text: text.replace('+', ' ') }),
};

async function idsOf(store: Store, query: string): Promise<string[]> {
  const [name = '', value = ''] = query.split('=');
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const asked = { ...FILTERS[name]?.(value), ...(cursor && { cursor }), limit: 7 };
    const { calls, nextCursor } = await store.listCalls(asked);
    ids.push(...calls.map(({ id }) => id));
    cursor = nextCursor ?? undefined;
  } while (cursor);
  return ids;
}

test.each(Object.keys(OLDER_STORES))(
  '[ST34] a store of %s says of each call what the server said that wrote it',
  async (name) => {
    const { file, open, answers } = setup(name);
    const store = open();
    expect(Object.keys(answers.calls).length).toBeGreaterThan(30);
    for (const [id, answer] of Object.entries(answers.calls)) {
      const call = await store.getCall(id);
      if (!call) expect.fail(`${id} is not there`);
      // What a model had written so far of the arguments was in memory alone.
      const { card, ...fields } = answer;
      const stored = answer.phase === 'streaming' ? { ...card, params: {} } : card;
      expect(wire(toRecord(call))).toEqual({ ...fields, card: stored });
      const events = await store.callEvents(id, { after: 0, limit: 200 });
      expect(events.pop()).toMatchObject({ type: 'imported', version: call.version });
      expect(wire(events.map((event) => toWireEvent(event, true)))).toEqual(
        answers.events[id] ?? [],
      );
    }
    for (const [query, ids] of Object.entries(answers.lists)) {
      expect({ [query]: await idsOf(store, query) }).toEqual({ [query]: ids });
    }
    const named = JSON.stringify(answers.calls).match(/blob_[0-9a-f]{40}/g) ?? [];
    expect(named.length).toBeGreaterThan(0);
    const none = `blob_${'0'.repeat(40)}`;
    await expect.poll(() => store.history.unusedBlobs([...named, none])).toEqual([none]);
    await store.close();
    expect(checkStoreFile(file).kind).toBe('whole');
    expect(await idsOf(open(), '')).toEqual(answers.lists['']);
  },
);

/** The file as SQLite has it. */
function use<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    defineRowChecksum(database);
    return work(database);
  } finally {
    database.close();
  }
}

const OLDER = MIGRATIONS.filter(({ name }) => name < '021');

/** As many times the calls that the store has, under other ids. */
function multiply(file: string, times: number): void {
  use(file, (database) => {
    migrate(database, OLDER);
    const columns = (table: string) =>
      database
        .prepare(
          "SELECT name FROM pragma_table_info(?) WHERE name NOT IN ('row_no', 'id', 'call_id')",
        )
        .all(table)
        .map(({ name }) => String(name));
    database.exec('BEGIN; CREATE TEMP TABLE first AS SELECT id FROM tool_calls');
    for (const [table, key] of [
      ['tool_calls', 'id'],
      ['call_events', 'call_id'],
    ] as const) {
      const others = columns(table);
      database.exec(`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${times})
        INSERT INTO ${table} (${key}, ${others}) SELECT ${key} || '_' || n, ${others}
        FROM n, ${table} WHERE ${key} IN first ORDER BY n, row_no`);
      for (const { sum, of } of OLDER_GUARDS[table].guards) {
        database.exec(`UPDATE ${table} SET ${sum} = row_checksum(${of})`);
      }
    }
    database.exec('COMMIT');
  });
}

/** What it told until it ended. */
async function move(file: string, end: string, killAfterMs?: number): Promise<string[]> {
  const program = join(import.meta.dirname, '../testing/move-until-killed.ts');
  const child = spawn(process.execPath, [program, file, end]);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => {
    const isFirst = lines.push(line) === 1;
    if (isFirst && killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  });
  await Promise.all([once(reader, 'close'), once(child, 'exit')]);
  return lines;
}

const lookInto = (file: string) =>
  use(file, (database) => {
    const count = (table: string) =>
      Number(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows);
    return { older: count('tool_calls'), log: count('log') };
  });

/** All that was made of the calls; when they were imported differs. */
const madeIn = (file: string) =>
  use(file, (database) =>
    [
      'SELECT seq, call_id, version, ends, length(events) AS chars FROM log ORDER BY seq',
      'SELECT * FROM calls ORDER BY call_no',
      'SELECT * FROM open_calls ORDER BY call_id',
      'SELECT * FROM meta',
      'SELECT rowid FROM tool_call_text ORDER BY rowid',
    ].map((sql) => JSON.stringify(database.prepare(sql).all())),
  );

test('[ST88] killed at any moment, the move goes on, and an older version leaves the file alone', async () => {
  const { file } = setup('018_outbox');
  multiply(file, 30);
  const older = readFileSync(file);
  const isLikeOlder = () => readFileSync(olderFile(file)).equals(older);
  const undisturbed = join(file, '../../undisturbed/callboard.db');
  placeStoreFiles(undisturbed, { database: older });
  await move(undisturbed, '^$');
  const made = madeIn(undisturbed);
  // Before the copy, and before anything is changed.
  await move(file, 'it is kept as');
  expect(existsSync(olderFile(file))).toBe(false);
  expect(readFileSync(file).equals(older)).toBe(true);
  // After some slices.
  await move(file, '^500 of 1023');
  expect(lookInto(file)).toEqual({ older: 523, log: 500 });
  expect(isLikeOlder()).toBe(true);
  expect(() => use(file, (database) => migrate(database, OLDER))).toThrow(StoreTooNewError);
  // All of them are moved, and nothing else is done.
  expect((await move(file, '^all ')).at(-1)).toBe('all 1023 calls are in the log');
  expect(lookInto(file).older).toBe(0);
  expect(isLikeOlder()).toBe(true);
  expect(await move(file, '^$')).toEqual(['opened']);
  expect(existsSync(olderFile(file))).toBe(false);
  expect(madeIn(file)).toEqual(made);
  // In the middle of whatever it does.
  const random = createRandom(25);
  for (let round = 0; round < 3; round += 1) {
    placeStoreFiles(file, { database: older });
    await move(file, '^$', random(200));
    expect((await move(file, '^$')).at(-1)).toBe('opened');
    expect(madeIn(file)).toEqual(made);
  }
  expect(checkStoreFile(file).kind).toBe('whole');
}, 60_000);

test('[ST34] words of before that are not indexed yet are found after the move', async () => {
  const { file, open } = setup('018_outbox');
  use(file, (database) =>
    database.exec(`DELETE FROM tool_call_text;
      INSERT INTO calls_to_index SELECT id FROM tool_calls WHERE tool_name = 'look'`),
  );
  const store = open();
  expect(await idsOf(store, 'q=ships')).toHaveLength(3);
  expect(await idsOf(store, 'q=tide')).toEqual([]);
});

test('[ST88] a store of before is not begun with where the disk has no room for it', async () => {
  const { file } = setup('018_outbox');
  const before = readFileSync(file);
  const keep = (free: number) => () =>
    keepOlderFile(
      file,
      () => {},
      () => free,
    );
  expect(keep(1_032_000)).toThrow(
    /take it over 1 MB are needed beside it, of which 1 MB are free; make room, or go on/,
  );
  expect(readFileSync(file).equals(before)).toBe(true);
  keep(1_032_192)();
  expect(readFileSync(olderFile(file)).equals(before)).toBe(true);
});

test('[ST34] [ST45] an open call of before goes on with the event after the one that imports it', async () => {
  const { open } = setup('018_outbox');
  const store = open();
  const [call] = await store.openCalls();
  if (!call) expect.fail('no call is open');
  const next = changed(call, { version: call.version + 1, display: 'shown' });
  const later = appendCall({ ...next, version: next.version + 1 });
  await expect(store.write([later])).rejects.toMatchObject({ stored: call.version });
  await store.write([appendCall(next)]);
  expect(await store.getCall(call.id)).toEqual(next);
});

test('[ST34] a damaged store of before is refused with what to do, also by a salvage, and left as it is', () => {
  const { file, open } = setup('018_outbox');
  use(file, (database) => {
    const change = database.prepare("UPDATE tool_calls SET args = args || ' ' WHERE row_no = 1");
    expect(change.run().changes).toBe(1);
  });
  const salvage = () => salvageStore({ file, now: Date.now, report: () => {} });
  // SQLite makes the two to read, and leaves them empty.
  const names = () => readdirSync(dirname(file)).filter((name) => !/-(?:wal|shm)$/.test(name));
  const before = readFileSync(file);
  expect(open).toThrow(/: the row tc_\w+ of tool_calls is not what was written/);
  expect(() => createSqliteStore({ file, isTrusted: true })).toThrow(/of tool_calls is not what/);
  expect(salvage).toThrow(/older version; start that version with --salvage, or restore a copy/);
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(names()).toEqual(['callboard.db', 'callboard.db.mark']);
  // Moved in part: the older version does not take it any more.
  writeFileSync(olderFile(file), 'the store of before');
  expect(salvage).toThrow(`put ${olderFile(file)} in its place`);
});

test('[ST79] [ST34] of a note of before it is not known what was read', async () => {
  const { file, open } = setup('002_checksums');
  use(file, (database) => {
    migrate(
      database,
      MIGRATIONS.filter(({ name }) => name < '015'),
    );
    database.exec(`INSERT INTO memories (owner, key, text, words, put_at, checksum)
      VALUES ('', 'tea', 'green tea', 'tea green tea', 1,
        row_checksum('', 'tea', 'green tea', 'tea green tea', 1))`);
  });
  const found = await open().memories.find({ ownerToken: null, text: 'tea', limit: 9 });
  expect(found).toEqual([
    { key: 'tea', text: 'green tea', putAt: 1, ownerToken: null, untrusted: 'unknown' },
  ]);
});
