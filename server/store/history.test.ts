import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { RawBuilder } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { finalCall, sampleCall } from '#lib/call/testing/sample-call';
import type { Message, RunSummary } from '#lib/protocol/run';
import { sampleModelTurn } from '#lib/protocol/testing/sample-model-turn';
import { message as anyMessage, run as anyRun } from '#lib/stores/testing/fixtures';
import { tempDir } from '#lib/testing/temp-dir';
import { compileQuery } from './compile-query.ts';
import { idleRunsQuery, oldestCallsQuery } from './history.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { runningRunsQuery } from './store-queries.ts';
import { insertCalls } from './testing/insert-calls.ts';
import { appendCall } from './testing/store-setup.ts';

function setup() {
  const dir = tempDir();
  const file = join(dir, 'callboard.db');
  const store = createSqliteStore({ file });
  onTestFinished(() => store.close());
  const database = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => database.close());
  const count = (table: string) =>
    Number(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows);
  return { file, store, database, count };
}

const ended = (id: string, given: Partial<Call> = {}) =>
  finalCall({ id, version: 1, completedAt: 1_000, ...given });

const put = (call: Call) => appendCall(call);

const run = (given: Partial<RunSummary> = {}): RunSummary =>
  anyRun('run_1', { title: 'Old', status: 'idle', model: null, updated_at: 1, ...given });

const message = (id: string, text: string): Message =>
  anyMessage(id, { role: 'user', status: 'done', parts: [{ type: 'text', text }] });

const BLOB = `blob_${'a1'.repeat(20)}`;
const OTHER = `blob_${'b2'.repeat(20)}`;

test('[ST61] a call is deleted with its events, words, keys and notes of blobs, and no other is', async () => {
  const { store, count } = setup();
  for (const id of ['tc_1', 'tc_2']) {
    const call = ended(id, { args: { text: `${id} ${BLOB}` } });
    const entry = { scope: `operator\n${id}`, fingerprint: 'f', callId: id };
    await store.write([put(call), { type: 'put_idempotency', entry }]);
  }
  expect((await store.listCalls({ text: 'tc_1', limit: 9 })).calls).toHaveLength(1);
  await store.write([{ type: 'delete_calls', ids: ['tc_1'], endedAt: 1_000 }]);
  expect(await store.getCall('tc_1')).toBeUndefined();
  expect(await store.callEvents('tc_1', { after: 0, limit: 9 })).toEqual([]);
  expect(await store.getIdempotency('operator\ntc_1')).toBeUndefined();
  expect((await store.listCalls({ text: 'tc_1', limit: 9 })).calls).toEqual([]);
  expect(await store.history.blobsOf(['tc_1'])).toEqual([]);
  expect(store.history.deletedUpTo()).toBe(1_000);
  expect(await store.getCall('tc_2')).toMatchObject({ id: 'tc_2' });
  expect(await store.getIdempotency('operator\ntc_2')).toMatchObject({ callId: 'tc_2' });
  expect((await store.listCalls({ text: 'tc_2', limit: 9 })).calls).toHaveLength(1);
  expect(await store.history.blobsOf(['tc_2'])).toEqual([BLOB]);
  for (const table of ['calls', 'log', 'idempotency', 'blob_uses']) {
    expect([table, count(table)]).toEqual([table, 1]);
  }
});

test('[ST61] an open call stays with all that is its own, also when it is asked to be deleted', async () => {
  const { store, count } = setup();
  const call = sampleCall({ version: 1 });
  const entry = { scope: 'operator\nkey', fingerprint: 'f', callId: call.id };
  await store.write([put(call), { type: 'put_idempotency', entry }]);
  await store.write([{ type: 'delete_calls', ids: [call.id], endedAt: 1_000 }]);
  expect((await store.openCalls()).map(({ id }) => id)).toEqual([call.id]);
  expect(count('log')).toBe(1);
  expect(count('idempotency')).toBe(1);
});

test('[ST62] calls come in the order of their ends; open ones do not, nor what ended later', async () => {
  const { store } = setup();
  await store.write([
    put(ended('tc_1', { completedAt: 3_000 })),
    put(ended('tc_2', { completedAt: 2_000 })),
    put(ended('tc_3', { completedAt: 9_000 })),
    put(sampleCall({ id: 'tc_4', version: 1, createdAt: 1 })),
  ]);
  const calls = await store.history.oldestCalls({ endedBefore: 5_000, limit: 9 });
  expect(calls.map(({ id, endedAt }) => [id, endedAt])).toEqual([
    ['tc_2', 2_000],
    ['tc_1', 3_000],
  ]);
});

test('[ST62] what a start and retention ask for is found by an index, whatever an operator counted', () => {
  const { file } = setup();
  const writable = new DatabaseSync(file);
  onTestFinished(() => writable.close());
  insertCalls(writable, 1_000, () => ({}));
  const planOf = (query: RawBuilder<unknown>): string[] => {
    const { sql, values } = compileQuery(query);
    const lines = writable.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    return lines.map(({ detail }) => String(detail));
  };
  for (const sql of ['', 'ANALYZE']) {
    writable.exec(sql);
    const plans = [
      oldestCallsQuery(5_000, 50),
      idleRunsQuery(5_000, null, 50),
      runningRunsQuery,
    ].map(planOf);
    expect(plans.flat().filter((line) => line.startsWith('SCAN'))).toEqual([
      // It has running runs alone.
      'SCAN runs USING INDEX runs_running',
    ]);
    expect(plans.flat().join()).not.toContain('TEMP B-TREE');
  }
});

test('[ST63] a run is deleted with its messages: as a whole, and not while it runs or has calls', async () => {
  const { store, count } = setup();
  await store.write([
    { type: 'put_run', run: run() },
    { type: 'put_message', message: message('msg_1', BLOB), position: 0 },
    { type: 'put_model_turn', turn: sampleModelTurn({ run_id: 'run_1' }) },
    { type: 'put_run', run: run({ run_id: 'run_2', status: 'running' }) },
    { type: 'put_run', run: run({ run_id: 'run_3' }) },
    put(ended('tc_1', { runId: 'run_3' })),
    { type: 'put_run', run: run({ run_id: 'run_4', updated_at: 9 }) },
  ]);
  const page = await store.history.emptyRuns({ changedBefore: 5_000, after: null, limit: 9 });
  expect(page).toEqual({ runs: [{ runId: 'run_1', changedAt: 1_000 }], next: null });
  for (const runId of ['run_1', 'run_2', 'run_3', 'run_4']) {
    await store.write([{ type: 'delete_run', runId, changedBefore: 5_000 }]);
  }
  const { runs } = await store.listRuns({ limit: 9 });
  expect(runs.map(({ run_id }) => run_id).sort()).toEqual(['run_2', 'run_3', 'run_4']);
  expect((await store.listMessages({ runId: 'run_1', maxChars: 1e6 })).messages).toEqual([]);
  expect([count('blob_uses'), count('model_turns')]).toEqual([0, 0]);
});

test('[ST63] runs are looked at in pages, which end behind those that do not fit too', async () => {
  const { store } = setup();
  const busy = run({ run_id: 'run_1', updated_at: 1 });
  await store.write([
    { type: 'put_run', run: busy },
    put(ended('tc_1')),
    { type: 'put_run', run: run({ run_id: 'run_2', updated_at: 2 }) },
  ]);
  const query = { changedBefore: 5_000, limit: 1 };
  const first = await store.history.emptyRuns({ ...query, after: null });
  expect(first).toEqual({ runs: [], next: { runId: 'run_1', changedAt: 1_000 } });
  const second = await store.history.emptyRuns({ ...query, after: first.next });
  expect(second.runs).toEqual([{ runId: 'run_2', changedAt: 2_000 }]);
});

test.each<[string, Partial<Call>]>([
  ['attachments', { attachments: [{ blob_id: BLOB, media_type: 'image/png', size: 9 }] }],
  ['arguments', { args: { picture: BLOB } }],
  ['results', { result: `see /v1/blobs/${BLOB}` }],
  ['what people are shown', { display: { src: BLOB } }],
])('[ST64] a blob is used that is named in the %s of a call', async (_, given) => {
  const { store } = setup();
  await store.write([put(ended('tc_1', given))]);
  expect(await store.history.unusedBlobs([BLOB, OTHER])).toEqual([OTHER]); // Not indexed yet.
  await store.listCalls({ text: 'x', limit: 1 });
  expect(await store.history.unusedBlobs([BLOB, OTHER])).toEqual([OTHER]);
  await store.write([{ type: 'delete_calls', ids: ['tc_1'], endedAt: 1_000 }]);
  expect(await store.history.unusedBlobs([BLOB])).toEqual([BLOB]);
});

test('[ST64] a blob is used that an open call or a message names', async () => {
  const { store } = setup();
  await store.write([
    put(sampleCall({ version: 1, args: { picture: BLOB } })),
    { type: 'put_message', message: message('msg_1', `![](/v1/blobs/${OTHER})`), position: 0 },
  ]);
  expect(await store.history.unusedBlobs([BLOB, OTHER])).toEqual([]);
});
