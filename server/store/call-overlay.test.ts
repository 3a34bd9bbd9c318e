import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { changed, finalCall, sampleCall, sampleProvider } from '#lib/call/testing/sample-call';
import { compilePolicy } from '#lib/policy/decide-policy';
import { policyDefinitionSchema } from '#lib/policy/policy-definition';
import { tempDir } from '#lib/testing/temp-dir';
import { RunTaints } from '../policy/taints.ts';
import { createLogApplier } from './apply-log.ts';
import type { Store } from './sqlite-store.ts';
import { createSqliteStore } from './sqlite-store.ts';
import type { CallQuery } from './store.ts';
import { StoreFailedError, VersionConflictError } from './store-errors.ts';
import { appendCall, putRun, sampleRun } from './testing/store-setup.ts';

/** Stores that put nothing into the table of calls but when they are asked for what needs it. */
function setup() {
  const dir = tempDir();
  const file = join(dir, 'callboard.db');
  const open = (at = file): Store => {
    const store = createSqliteStore({ file: at, scheduleIndexing: () => () => {} });
    onTestFinished(() => store.close());
    return store;
  };
  /** As a server that is killed now leaves it. */
  const openKilled = (): Store => {
    const copy = join(dir, 'killed.db');
    for (const end of ['', '-wal', '.mark']) copyFileSync(`${file}${end}`, `${copy}${end}`);
    return open(copy);
  };
  const store = open();
  const other = new DatabaseSync(file);
  onTestFinished(() => other.close());
  const count = (table: string) =>
    Number(other.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows);
  return { file, store, open, openKilled, other, count };
}

/** It puts all that has ended into the table of calls. */
const apply = (store: Store) => store.toolUse.recent({ limit: 1 });
const put = (store: Store, ...calls: readonly Call[]) =>
  store.write(calls.map((call) => appendCall(call)));
const idsOf = async (store: Store, query: Omit<CallQuery, 'limit'> = {}) =>
  (await store.listCalls({ limit: 50, ...query })).calls.map(({ id }) => id);

const provider = sampleProvider;
const ended = (given: Partial<Call>) => finalCall({ startedAt: 1, completedAt: 5_000, ...given });

/** Calls of each kind, the last one written first; their ids are not in that order. */
const CALLS: readonly Call[] = [
  ended({ id: 'tc_9', ownerToken: 'tok_1', provider }),
  sampleCall({ id: 'tc_8', wantedClientId: 'cl_1' }),
  ended({ id: 'tc_7', status: 'FAILED', runId: 'run_2', ownerToken: 'tok_1' }),
  sampleCall({ id: 'tc_6', status: 'RUNNING', phase: 'device', provider, toolName: 'other' }),
  ended({ id: 'tc_5', status: 'TIMEOUT', toolName: 'other', wantedClientId: 'cl_1' }),
  sampleCall({ id: 'tc_4', runId: 'run_2', ownerToken: 'tok_1', toolName: 'other' }),
];

const FILTERS: readonly [keyof CallQuery, (call: Call) => unknown, readonly string[]][] = [
  ['runId', (call) => call.runId, ['run_1', 'run_2']],
  ['status', (call) => call.status, ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'TIMEOUT']],
  ['tool', (call) => call.toolName, ['echo.text', 'other']],
  ['client', (call) => call.provider?.clientId ?? call.wantedClientId, ['cl_1', 'cl_2']],
  ['ownerToken', (call) => call.ownerToken, ['tok_1', 'tok_2']],
];

/** Each filter, and each two of them. */
const queries = FILTERS.flatMap(([name, of, values], place) =>
  values.flatMap((value) => {
    const one = { query: { [name]: value }, fits: (call: Call) => of(call) === value };
    const both = FILTERS.slice(place + 1).flatMap(([second, ofSecond, others]) =>
      others.map((other) => ({
        query: { ...one.query, [second]: other },
        fits: (call: Call) => one.fits(call) && ofSecond(call) === other,
      })),
    );
    return [one, ...both];
  }),
);

test('[ST12] [ST83] a list has what is open and what ended just now, whatever it is filtered by', async () => {
  const { store, count, openKilled } = setup();
  await put(store, ...CALLS.toReversed());
  expect(count('calls')).toBe(0);
  const expectAll = async (one: Store) => {
    for (const { query, fits } of [{ query: {}, fits: () => true }, ...queries]) {
      const expected = CALLS.filter(fits).map(({ id }) => id);
      expect([query, await idsOf(one, query)]).toEqual([query, expected]);
      const first = await one.listCalls({ ...query, limit: 1 });
      const rest =
        first.nextCursor === null ? [] : await idsOf(one, { ...query, cursor: first.nextCursor });
      expect([query, ...first.calls.map(({ id }) => id), ...rest]).toEqual([query, ...expected]);
    }
  };
  await expectAll(store);
  await expectAll(openKilled());
  await apply(store);
  expect(count('calls')).toBe(3);
  await expectAll(store);
  await put(store, changed(ended({ id: 'tc_5', ...CALLS[4] }), { version: 2, lateResult: 'late' }));
  await expectAll(store);
});

test('[ST83] a list does not show a call under the status that it had', async () => {
  const { store } = setup();
  const running = sampleCall({ status: 'RUNNING', phase: 'device', provider });
  await put(store, sampleCall());
  await put(store, { ...running, version: 2 });
  await put(store, changed(running, { version: 3, status: 'SUCCEEDED', phase: null }));
  for (const one of [async () => undefined, apply]) {
    await one(store);
    const shown = ['PENDING', 'RUNNING', 'SUCCEEDED'] as const;
    const found = shown.map((status) => idsOf(store, { status }));
    expect(await Promise.all(found)).toEqual([[], [], ['tc_1']]);
  }
});

test('[ST83] statistics, retention and counts see what ended just now', async () => {
  const { store, count } = setup();
  await put(store, ...CALLS.toReversed());
  expect(await store.history.countCalls()).toBe(6);
  expect(count('calls')).toBe(0);
  const oldest = await store.history.oldestCalls({ endedBefore: 9_000, limit: 9 });
  expect(oldest.map(({ id }) => id)).toEqual(['tc_5', 'tc_7', 'tc_9']);
  await put(store, ended({ id: 'tc_3', ownerToken: 'tok_1', completedAt: 6_000 }));
  await put(store, ended({ id: 'tc_2', ownerToken: 'tok_1', completedAt: 7_000 }));
  const used = await store.toolUse.recent({ ownerToken: 'tok_1', limit: 2 });
  expect(used.map(({ id }) => id)).toEqual(['tc_2', 'tc_3']);
  expect((await store.toolUse.recent({ limit: 9 })).map(({ id }) => id)).toHaveLength(5);
  expect(await store.history.countCalls()).toBe(8);
});

test('[ST83] each call counts once while it is answered late and applied', async () => {
  const { store } = setup();
  const call = ended({});
  await put(store, call);
  const counts: Promise<number>[] = [];
  const look = () => void counts.push(store.history.countCalls());
  for (let version = 2; version < 40; version += 1) {
    const written = put(store, changed(call, { version, lateResult: version }));
    look();
    const applied = apply(store);
    look();
    await written;
    look();
    await applied;
    look();
  }
  expect(new Set(await Promise.all(counts))).toEqual(new Set([1]));
});

test('[ST83] what a run has read is known from calls that are open, ended just now or answered late', async () => {
  const { store } = setup();
  const policy = policyDefinitionSchema.parse({});
  const taintOf = (runId: string) => new RunTaints(store, compilePolicy(policy).marks).of(runId);
  const reads = { annotations: { readOnlyHint: true, openWorldHint: true } };
  const failed = { executed: 'no', code: 'denied', message: 'no' } as const;
  const refused = ended({
    id: 'tc_0',
    runId: 'run_late',
    status: 'FAILED',
    error: failed,
    ...reads,
  });
  await put(store, refused);
  expect(await taintOf('run_late')).toMatchObject({ untrusted: null });
  await put(
    store,
    sampleCall({ id: 'tc_1', runId: 'run_open', granted: true, preview: 'words', ...reads }),
    ended({ id: 'tc_2', runId: 'run_ended', ...reads }),
    changed(refused, { version: 2, lateResult: 'words' }),
  );
  for (const runId of ['run_open', 'run_ended', 'run_late']) {
    expect([runId, await taintOf(runId)]).toMatchObject([runId, { untrusted: 'echo.text' }]);
  }
});

test('[ST83] [ST63] a run stays whose calls are open, ended just now, or on their way to the disk', async () => {
  const { store } = setup();
  const runs = ['run_open', 'run_ended', 'run_coming', 'run_empty'];
  await store.write(runs.map((run_id) => putRun(sampleRun({ run_id, updated_at: 1 }))));
  await put(store, sampleCall({ id: 'tc_1', runId: 'run_open' }));
  await put(store, ended({ id: 'tc_2', runId: 'run_ended' }));
  const query = { changedBefore: 5_000, after: null, limit: 9 };
  const before = await store.history.emptyRuns(query);
  expect(before.runs.map(({ runId }) => runId)).toEqual(['run_coming', 'run_empty']);
  const coming = put(store, ended({ id: 'tc_3', runId: 'run_coming' }));
  const deleted = runs.map((runId) =>
    store.write([{ type: 'delete_run', runId, changedBefore: 5_000 }]),
  );
  await Promise.all([coming, ...deleted]);
  const left = (await store.listRuns({ limit: 9 })).runs.map(({ run_id }) => run_id);
  expect(left.sort()).toEqual(['run_coming', 'run_ended', 'run_open']);
});

test('[ST83] [ST64] [ST72] a blob is its owner’s and in use whose call is open or ended just now', async () => {
  const { store, count } = setup();
  const [open, done, none] = ['a', 'b', 'c'].map((digit) => `blob_${digit.repeat(40)}`);
  await put(
    store,
    sampleCall({ id: 'tc_1', ownerToken: 'tok_1', args: { open } }),
    ended({ id: 'tc_2', ownerToken: 'tok_1', result: { done } }),
  );
  for (const one of [async () => undefined, apply]) {
    await one(store);
    const ids = [open, done, none].map(String);
    expect(await store.history.unusedBlobs(ids)).toEqual([none]);
    const of = (token: string) => Promise.all(ids.map((id) => store.history.isBlobOf(token, id)));
    expect(await of('tok_1')).toEqual([true, true, false]);
    expect(await of('tok_2')).toEqual([false, false, false]);
  }
  expect(count('blob_uses')).toBe(1);
});

test('[ST83] [ST72] a blob is its owner’s also while more calls are open than are read for retention', async () => {
  const { store } = setup();
  const blob = `blob_${'a'.repeat(40)}`;
  const others = Array.from({ length: 1_000 }, (_, number) => {
    return sampleCall({ id: `tc_${number}`, ownerToken: 'tok_1' });
  });
  await put(store, ...others, sampleCall({ id: 'tc_own', ownerToken: 'tok_1', args: { blob } }));
  expect(await store.history.isBlobOf('tok_1', blob)).toBe(true);
  expect(await store.history.isBlobOf('tok_2', blob)).toBe(false);
  expect(await store.history.unusedBlobs([blob])).toBeUndefined();
});

test('[ST83] [ST64] of texts that name blobs no more are read at once than have room', async () => {
  const { store } = setup();
  const [named, none] = ['a', 'b'].map((digit) => `blob_${digit.repeat(40)}`);
  const large = 'x'.repeat(9 * 1024 * 1024);
  await put(
    store,
    sampleCall({ id: 'tc_1', args: { large } }),
    sampleCall({ id: 'tc_2', args: { large } }),
  );
  expect(await store.history.unusedBlobs([String(none)])).toEqual([none]);
  for (const id of ['tc_3', 'tc_4']) await put(store, sampleCall({ id, args: { large, named } }));
  expect(await store.history.unusedBlobs([String(none)])).toBeUndefined();
});

test('[ST83] [ST13] a late answer to a call of before is in its place in lists, and found by its words', async () => {
  const { store, open, count, openKilled } = setup();
  const call = ended({ id: 'tc_1', result: 'early' });
  await put(store, call, ended({ id: 'tc_0' }));
  await apply(store);
  await store.close();
  const again = open();
  await put(again, ended({ id: 'tc_2' }));
  await put(again, changed(call, { version: 2, lateResult: 'tardy' }));
  await expect(put(again, { ...call, version: 2 })).rejects.toThrow(VersionConflictError);
  expect(await idsOf(again)).toEqual(['tc_2', 'tc_0', 'tc_1']);
  expect((await again.getCall('tc_1'))?.lateResult).toBe('tardy');
  const [events] = [await again.callEvents('tc_1', { after: 0, limit: 9 })];
  expect(events.map(({ version }) => version)).toEqual([1, 2]);
  for (const one of [again, openKilled()]) {
    expect(await idsOf(one, { text: 'tardy' })).toEqual(['tc_1']);
    expect(await idsOf(one, { text: 'early' })).toEqual(['tc_1']);
    expect(await idsOf(one)).toEqual(['tc_2', 'tc_0', 'tc_1']);
  }
  expect(count('calls')).toBe(3);
});

test('[ST87] what a server that was killed had not applied is there after a start', async () => {
  const { store, openKilled, count } = setup();
  const args = { text: 'waiting words' };
  const many = Array.from({ length: 300 }, (_, n) => ended({ id: `tc_a${n}`, args }));
  await put(store, sampleCall({ id: 'tc_open' }), sampleCall({ id: 'tc_soon' }), ...many);
  await apply(store);
  await put(
    store,
    { ...ended({ id: 'tc_soon', completedAt: 6_000 }), version: 2 },
    sampleCall({ id: 'tc_new' }),
  );
  await put(store, ended({ id: 'tc_last', args: { text: 'other' } }));
  expect([count('calls'), count('open_calls')]).toEqual([300, 2]);
  const again = openKilled();
  expect((await again.openCalls()).map(({ id }) => id)).toEqual(['tc_open', 'tc_new']);
  expect((await idsOf(again)).slice(0, 2)).toEqual(['tc_last', 'tc_new']);
  expect((await idsOf(again, { status: 'PENDING' })).sort()).toEqual(['tc_new', 'tc_open']);
  expect(await again.history.countCalls()).toBe(304);
  expect((await again.toolUse.recent({ limit: 200 })).map(({ id }) => id)).toContain('tc_soon');
  expect(await idsOf(again, { text: 'other' })).toEqual(['tc_last']);
  await put(again, { ...sampleCall({ id: 'tc_open' }), version: 2 });
  await apply(store);
  expect([count('calls'), count('open_calls')]).toEqual([302, 2]);
});

test('[ST87] rows and words are made with the position up to which they are made, or neither', async () => {
  const { store, other, count } = setup();
  await put(store, ended({ id: 'tc_1' }), ended({ id: 'tc_2' }));
  other.exec(`CREATE TRIGGER fail BEFORE INSERT ON calls WHEN new.id = 'tc_2'
    BEGIN SELECT RAISE(FAIL, 'planted'); END`);
  await expect(apply(store)).rejects.toThrow(/planted/);
  expect([count('calls'), count('tool_call_text')]).toEqual([0, 0]);
  expect(await idsOf(store)).toEqual(['tc_2', 'tc_1']);
  other.exec('DROP TRIGGER fail');
  expect(await idsOf(store, { text: 'hi' })).toEqual(['tc_2', 'tc_1']);
  expect(count('calls')).toBe(2);
});

test('[ST14] [ST87] rows and words that were lost are made again from the log', async () => {
  const { store, other, open } = setup();
  await put(store, ...CALLS.toReversed());
  await apply(store);
  const rows = other.prepare('SELECT * FROM calls ORDER BY call_no');
  const before = rows.all();
  await store.close();
  other.exec(`DELETE FROM calls; DELETE FROM tool_call_text; DELETE FROM open_calls;
    UPDATE meta SET value = 0 WHERE key = 'applied'`);
  const again = open();
  expect(rows.all()).toEqual(before);
  expect((await again.openCalls()).map(({ id }) => id)).toEqual(['tc_4', 'tc_6', 'tc_8']);
  expect(await idsOf(again, { text: 'hi' })).toEqual(['tc_9', 'tc_7', 'tc_5']);
});

test('[ST45] of two servers that write one file the second is refused, and loses nothing of the first', async () => {
  const { store, open } = setup();
  const second = open();
  const call = sampleCall();
  await put(store, call, sampleCall({ id: 'tc_2' }));
  await expect(put(second, ended({ id: 'tc_3' }))).rejects.toThrow(StoreFailedError);
  const third = open();
  await put(store, { ...ended({}), version: 2 });
  await expect(put(third, changed(call, { version: 2, granted: true }))).rejects.toThrow(/UNIQUE/);
  expect(await store.getCall('tc_1')).toEqual({ ...ended({}), version: 2 });
  expect(await idsOf(open())).toEqual(['tc_2', 'tc_1']);
});

test('[ST44] of a long log no more is read than a page of events needs', async () => {
  const { store, other } = setup();
  for (const version of [1, 2, 3]) await put(store, sampleCall({ version }));
  other.exec('UPDATE log SET checksum = checksum + 1 WHERE version = 3');
  const versionsOf = async (after: number) =>
    (await store.callEvents('tc_1', { after, limit: 1 })).map(({ version }) => version);
  expect([await versionsOf(0), await versionsOf(1)]).toEqual([[1], [2]]);
  await expect(versionsOf(2)).rejects.toThrow('log');
});

test('[ST87] calls with long logs that end at one moment are applied in several commits', async () => {
  const { store, other } = setup();
  const ids = ['tc_1', 'tc_2', 'tc_3', 'tc_4'];
  const args = { text: 'x'.repeat(600_000) };
  await put(store, ...ids.map((id) => sampleCall({ id, args })));
  await apply(store);
  await put(store, ...ids.map((id) => ended({ id, version: 2 })));
  const applySome = createLogApplier(other);
  const batches = [];
  do batches.push(applySome().more);
  while (batches.at(-1));
  expect(batches).toEqual([true, true, false]);
  expect(await idsOf(store)).toHaveLength(4);
});

test('[ST61] of a call that ended just now and is deleted nothing comes back', async () => {
  const { store, open, count } = setup();
  const blob = `blob_${'a'.repeat(40)}`;
  const call = ended({ args: { blob } });
  await put(store, sampleCall(), ended({ id: 'tc_2' }));
  await apply(store); // It is noted as open.
  await put(store, { ...call, version: 2 });
  await store.write([{ type: 'delete_calls', ids: ['tc_1'], endedAt: 5_000 }]);
  await expect(put(store, { ...call, version: 3 })).rejects.toMatchObject({ stored: 0 });
  expect(await idsOf(store)).toEqual(['tc_2']);
  await apply(store);
  expect(await idsOf(store)).toEqual(['tc_2']);
  for (const table of ['log', 'calls', 'tool_call_text'])
    expect([table, count(table)]).toEqual([table, 1]);
  expect([count('open_calls'), count('blob_uses')]).toEqual([0, 0]);
  await store.close();
  expect(await open().history.countCalls()).toBe(1);
});

test('[ST61] the newest call may be deleted: what comes after it is listed, also after a start', async () => {
  const { store, open } = setup();
  const call = ended({});
  await put(store, sampleCall({ id: 'tc_0' }), call);
  await apply(store);
  await Promise.all([
    put(store, changed(call, { version: 2, lateResult: 'late' })),
    store.write([{ type: 'delete_calls', ids: ['tc_1'], endedAt: 5_000 }]),
  ]);
  await store.close();
  const again = open();
  await put(again, ended({ id: 'tc_3' }));
  expect((await again.toolUse.recent({ limit: 9 })).map(({ id }) => id)).toEqual(['tc_3']);
  expect(await idsOf(again)).toEqual(['tc_3', 'tc_0']);
});
