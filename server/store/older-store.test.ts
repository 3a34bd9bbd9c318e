import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test } from 'vitest';
import type { CallRecord } from '#lib/call/call-record';
import { sampleModelTurn } from '#lib/protocol/testing/sample-model-turn';
import { CHANGING_COLUMNS, FIXED_COLUMNS } from './call-fields.ts';
import { checkStoreFile } from './integrity/check-store-file.ts';
import { salvageStore } from './integrity/salvage-store.ts';
import { defineRowChecksum } from './row-checksum.ts';
import { shapeOf } from './schema.ts';
import { createSqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';
import { callsOfOlderStore, olderStore } from './testing/older-store.ts';
import { flipBit, placeStoreFiles } from './testing/store-files.ts';
import { appendCall } from './testing/store-setup.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of cleanups.splice(0).reverse()) await step();
});

function setup(files = olderStore()) {
  const dir = mkdtempSync(join(tmpdir(), 'older-'));
  cleanups.push(() => rm(dir, { recursive: true }));
  const file = join(dir, 'data', 'callboard.db');
  placeStoreFiles(file, files);
  const open = (): Store => {
    const store = createSqliteStore({ file });
    cleanups.push(() => store.close());
    return store;
  };
  return { file, open };
}

/** Straight from the file. */
function ask(file: string, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

/** As it was written, with what is said of calls of that time. */
async function expectAllThere(store: Store, calls: readonly CallRecord[]) {
  for (const call of calls) {
    const read = await store.getCall(call.id);
    expect(read).toEqual(call);
    expect(read).toMatchObject({
      version: 0,
      toolProvider: call.source === 'server' ? 'server' : 'clients',
      parentCallId: null,
      depth: 0,
    });
    expect(await store.callEvents(call.id, { after: 0, limit: 1 })).toEqual([]);
  }
}

/** The fixture says of the call that ran at the server what the code of that time could not. */
const callsOfBefore = (): CallRecord[] =>
  callsOfOlderStore().map((call) => ({
    ...call,
    clockMark: null,
    ownerToken: null,
    toolProvider: call.source === 'server' ? 'server' : 'clients',
  }));

test('[ST34] a store of the version before opens with all that it holds', async () => {
  const { file, open } = setup();
  const store = open();
  await expectAllThere(store, callsOfBefore());
  expect((await store.openCalls()).map(({ id }) => id).sort()).toEqual([
    'tc_approved',
    'tc_device',
    'tc_open',
  ]);
  expect((await store.listCalls({ limit: 9, text: 'hi' })).calls).toHaveLength(2);
  expect(await store.getIdempotency('operator\nkey')).toMatchObject({ callId: 'tc_ended' });
  expect(await store.getRun('run_1')).toMatchObject({ title: 'A run', updated_at: 2 });
  expect((await store.listMessages({ runId: 'run_1', maxChars: 1e6 })).messages).toHaveLength(1);
  expect(await store.findClient('cl_1', 'h1')).toMatchObject({ kind: 'phone' });
  expect(await store.findSession('s')).toMatchObject({ expiresAt: 2, tokenId: null });
  expect(await store.reserveSeqs(1)).toBe(8);
  await store.close();
  expect(checkStoreFile(file).kind).toBe('whole');
  await expectAllThere(open(), callsOfBefore());
});

test('[ST34] no row of the store of before is written for the new columns', async () => {
  const { file, open } = setup();
  const sums = 'SELECT id, fixed_checksum, checksum FROM tool_calls ORDER BY id';
  const before = ask(file, sums);
  await open().close();
  expect(ask(file, sums)).toEqual(before);
  const columns =
    'version, tool_provider, parent_call_id, depth, routing, display, preview, owner_token';
  const rows = ask(file, `SELECT ${columns} FROM tool_calls`);
  expect(rows.flatMap((row) => Object.values(row)).every((value) => value === null)).toBe(true);
});

test('[ST34] [ST45] a call of before goes on with the event 1, and its row is as one of today', async () => {
  const { file, open } = setup();
  const store = open();
  const call = callsOfBefore().find(({ id }) => id === 'tc_device');
  if (!call) throw new Error('the call is not in the store of before');
  const next: CallRecord = { ...call, version: 1, deviceLeftMs: 6_000, display: 'shown' };
  await expect(store.write([appendCall({ ...next, version: 2 })])).rejects.toMatchObject({
    stored: 0,
  });
  await store.write([appendCall(next)]);
  expect(await store.getCall(call.id)).toEqual(next);
  await store.close();
  expect(
    ask(
      file,
      `SELECT version, tool_provider, device_left_ms, display, routing ->> 'hasOwnTimeout' AS own,
        annotations, deadlines ->> 'deviceLeftMs' AS hidden FROM tool_calls WHERE id = 'tc_device'`,
    ),
  ).toEqual([
    {
      version: 1,
      tool_provider: 'clients',
      device_left_ms: 6_000,
      display: '"shown"',
      own: 1,
      annotations: '{"readOnlyHint":true}',
      hidden: null,
    },
  ]);
});

test('[ST34] [ST47] a run of before has no requests to models, and takes those that come', async () => {
  const { file, open } = setup();
  const store = open();
  const of = { runId: 'run_1', after: 0, limit: 9 };
  expect(await store.listModelTurns(of)).toEqual({ turns: [], nextAfter: null });
  await store.write([{ type: 'put_model_turn', turn: sampleModelTurn() }]);
  await store.close();
  expect(checkStoreFile(file).kind).toBe('whole');
  expect((await open().listModelTurns(of)).turns).toEqual([sampleModelTurn()]);
  // As the deletion of a run does, by the index.
  const plan = ask(file, "EXPLAIN QUERY PLAN DELETE FROM model_turns WHERE run_id = 'run_1'");
  expect(String(plan[0]?.detail)).toMatch(/^SEARCH model_turns USING INDEX .*\(run_id=\?\)/);
});

test('[ST8] the time left of a clock is stored beside a mark, and a deadline of before as it was', async () => {
  const { file, open } = setup();
  const store = open();
  const call = callsOfBefore().find(({ id }) => id === 'tc_open');
  if (!call) throw new Error('the call is not in the store of before');
  const { deadlines } = call;
  const columns = () => ask(file, "SELECT deadlines FROM tool_calls WHERE id = 'tc_open'");
  expect(columns()).toEqual([{ deadlines: JSON.stringify(deadlines) }]);
  const marked = {
    ...call,
    deadlines: { ...deadlines, queue: 7_500 },
    clockMark: 7_000,
    version: 1,
  };
  await store.write([appendCall(marked)]);
  expect(await store.getCall('tc_open')).toEqual(marked);
  await store.close();
  const [row] = columns();
  expect(JSON.parse(String(row?.deadlines))).toMatchObject({ queue: 500, mark: 7_000 });
});

test('[ST34] an old store with a damaged row is refused before anything is changed, and salvaged', async () => {
  const { database, mark } = olderStore();
  const at = database.indexOf('"destructiveHint"');
  const { file, open } = setup({ database: flipBit(database, at + 3), mark });
  const before = readFileSync(file);
  expect(open).toThrow(/: the row tc_approved of tool_calls is not what was written/);
  expect(readFileSync(file)).toEqual(before);
  expect(salvageStore({ file, now: Date.now }).slice(1, -1)).toEqual([
    'tool_calls: 4 rows kept, 1 lost',
    ...['idempotency', 'runs', 'messages', 'clients', 'sessions'].map(
      (table) => `${table}: 1 rows kept, 0 lost`,
    ),
  ]);
  await expectAllThere(
    open(),
    callsOfBefore().filter(({ id }) => id !== 'tc_approved'),
  );
});

test('[ST8] the table of fields has each column of a call once, and those of the checksums apart', () => {
  const listed = ['row_no', ...FIXED_COLUMNS, ...CHANGING_COLUMNS, 'fixed_checksum', 'checksum'];
  const { columns } = shapeOf('tool_calls');
  expect(listed.toSorted()).toEqual(columns.map(({ name }) => name).toSorted());
});

test('[ST79] [ST34] of a note of the version before it is not known what was read', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'older-'));
  cleanups.push(() => rm(dir, { recursive: true }));
  const file = join(dir, 'callboard.db');
  const store = createSqliteStore({ file });
  const note = { ownerToken: null, key: 'tea', text: 'green tea', putAt: 1 };
  await store.write([{ type: 'put_memory', memory: { ...note, untrusted: null } }]);
  await store.close();
  const older = new DatabaseSync(file);
  defineRowChecksum(older);
  older.exec(`UPDATE memories SET checksum = row_checksum(owner, key, text, words, put_at);
    ALTER TABLE memories DROP COLUMN untrusted; ALTER TABLE clients DROP COLUMN owner;
    ALTER TABLE tool_calls DROP COLUMN traceparent; ALTER TABLE tool_calls DROP COLUMN model_call_id; ALTER TABLE runs DROP COLUMN trace; ALTER TABLE runs DROP COLUMN settings;
    DROP TABLE deliveries;
    DELETE FROM migrations WHERE name >= '015'`);
  older.close();
  const newer = createSqliteStore({ file });
  cleanups.push(() => newer.close());
  const found = await newer.memories.find({ ownerToken: null, text: 'tea', limit: 9 });
  expect(found).toEqual([{ ...note, untrusted: 'unknown' }]);
});
