import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { changed } from '#lib/call/testing/sample-call';
import { tempDir } from '#lib/testing/temp-dir';
import { checkStoreFile } from './integrity/check-store-file.ts';
import { salvageStore } from './integrity/salvage-store.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { defineRowChecksum } from './row-checksum.ts';
import type { Store } from './sqlite-store.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { callsOfOlderStore, olderStore } from './testing/older-store.ts';
import { flipBit, placeStoreFiles } from './testing/store-files.ts';
import { appendCall } from './testing/store-setup.ts';

const olderThan = (name: string) => MIGRATIONS.filter((one) => one.name < name);

function setup(files = olderStore()) {
  const dir = tempDir();
  const file = join(dir, 'data', 'callboard.db');
  placeStoreFiles(file, files);
  const open = (): Store => {
    const store = createSqliteStore({ file });
    onTestFinished(() => store.close());
    return store;
  };
  return { file, open };
}

/** As it was written, with what is said of calls of that time; one event has all of it. */
async function expectAllThere(store: Store, calls: readonly Call[]) {
  for (const call of calls) {
    const read = await store.getCall(call.id);
    expect(read).toEqual({ ...call, version: 1 });
    expect(read).toMatchObject({
      toolProvider: call.source === 'server' ? 'server' : 'clients',
      parentCallId: null,
      depth: 0,
    });
    expect(await store.callEvents(call.id, { after: 0, limit: 9 })).toEqual([
      expect.objectContaining({ version: 1, type: 'imported', actor: 'server', update: {} }),
    ]);
  }
}

/** Null in a record of before was a field that the call did not have, but for these. */
const NULLABLE = [
  'phase',
  'wantedClientId',
  'retryOf',
  'parentCallId',
  'clockMark',
  'ownerToken',
  'lateResult',
];

const present = (fields: object, nullable: readonly string[] = []) =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== null || nullable.includes(name)),
  );

/** The fixture says of the call that ran at the server what the code of that time could not. */
const callsOfBefore = (): Call[] =>
  callsOfOlderStore().map(({ executeLeftMs, deadlines, ...call }) => ({
    ...(present(call, NULLABLE) as unknown as Call),
    deadlines: present({ ...deadlines, executeLeftMs }),
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

test('[ST34] [ST45] a call of before goes on with the event 2', async () => {
  const { open } = setup();
  const store = open();
  const call = callsOfBefore().find(({ id }) => id === 'tc_device');
  if (!call) throw new Error('the call is not in the store of before');
  const next: Call = changed(call, { version: 2, deviceLeftMs: 6_000, display: 'shown' });
  await expect(store.write([appendCall({ ...next, version: 3 })])).rejects.toMatchObject({
    stored: 1,
  });
  await store.write([appendCall(next)]);
  expect(await store.getCall(call.id)).toEqual(next);
});

test('[ST34] an old store with a damaged row is refused before anything is changed, and salvaged', async () => {
  const { database, mark } = olderStore();
  const at = database.indexOf('"destructiveHint"');
  const { file, open } = setup({ database: flipBit(database, at + 3), mark });
  const before = readFileSync(file);
  expect(open).toThrow(/: the row tc_approved of tool_calls is not what was written/);
  expect(() => createSqliteStore({ file, isTrusted: true })).toThrow(/tc_approved of tool_calls/);
  expect(readFileSync(file)).toEqual(before);
  const lines = salvageStore({ file, now: Date.now, report: () => {} });
  expect(lines).toContain('tool_calls: 4 rows kept, 1 lost');
  for (const table of ['idempotency', 'runs', 'messages', 'clients', 'sessions']) {
    expect(lines).toContain(`${table}: 1 rows kept, 0 lost`);
  }
  const store = open();
  await expectAllThere(
    store,
    callsOfBefore().filter(({ status }) => status === 'SUCCEEDED' || status === 'FAILED'),
  );
  expect(await store.getCall('tc_approved')).toBeUndefined();
  expect(await store.openCalls()).toEqual([]);
});

test('[ST79] [ST34] of a note of the version before it is not known what was read', async () => {
  const dir = tempDir();
  const file = join(dir, 'callboard.db');
  const older = new DatabaseSync(file);
  defineRowChecksum(older);
  migrate(older, olderThan('015'));
  const note = { key: 'tea', text: 'green tea', putAt: 1 };
  older
    .prepare(`INSERT INTO memories (owner, key, text, words, put_at, checksum)
      VALUES ('', ?1, ?2, ?3, 1, row_checksum('', ?1, ?2, ?3, 1))`)
    .run(note.key, note.text, 'tea green tea');
  older.close();
  const newer = createSqliteStore({ file });
  onTestFinished(() => newer.close());
  const found = await newer.memories.find({ ownerToken: null, text: 'tea', limit: 9 });
  expect(found).toEqual([{ ...note, ownerToken: null, untrusted: 'unknown' }]);
});
