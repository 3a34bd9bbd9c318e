import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, test } from 'vitest';
import type { Call } from '#lib/call/call';
import type { CallEvent } from '#lib/call/call-event';
import { decide } from '#lib/call/decide';
import { firstEntryOf, patchOf } from '#lib/call/fold';
import { sampleCall, sampleProvider } from '#lib/call/testing/sample-call';
import { sharedTempDir } from '#lib/testing/temp-dir';
import type { Store } from '../sqlite-store.ts';
import { createSqliteStore } from '../sqlite-store.ts';
import type { Change } from '../store.ts';
import { markFile, openMark } from '../store-mark.ts';
import { placeStoreFiles } from '../testing/store-files.ts';
import { salvageStore } from './salvage-store.ts';

const dir = sharedTempDir();
const file = join(dir, 'store', 'callboard.db');
const now = () => Date.UTC(2026, 0, 2, 3, 4, 5, 6);

const AT = 1_700_000_000_000;
const claims = { ...sampleProvider, attempt: 1 };
const from = { clientId: claims.clientId, instanceId: claims.instanceId, attempt: 1 };
const OFFERED = { type: 'offered', provider: claims, rerunnable: false } as const;
const CLAIMED = { type: 'claimed', from } as const;
const ANSWERED = { type: 'answered', from, error: null, fields: { result: 'done' } } as const;

/** The writes of a call with effects: one that makes it, and one for each event. */
function writesOf(id: string, events: readonly CallEvent[]): Change[] {
  let call: Call = sampleCall({ id, annotations: {}, createdAt: AT, version: 1 });
  const append = (record: Call, entry: object, version: number): Change => {
    call = { ...record, version };
    const event = { version, type: 'any', at: AT + version, actor: 'server', patch: {}, ...entry };
    return { type: 'append_call', call, event };
  };
  const first = append(call, firstEntryOf(call), 1);
  return [
    first,
    ...events.map((event) => {
      const decided = decide(call, event, { wall: AT, steady: AT });
      if (!decided.ok) throw new Error(decided.refusal);
      const { record, shown } = decided;
      return append(record, { patch: patchOf(call, record), shown }, call.version + 1);
    }),
  ];
}

const ENDED = [OFFERED, CLAIMED, ANSWERED];

beforeEach(async () => {
  placeStoreFiles(file, {});
  const store = createSqliteStore({ file });
  const calls = [
    writesOf('tc_queued', []),
    writesOf('tc_granted', [OFFERED, CLAIMED]),
    writesOf('tc_ended', ENDED),
    writesOf('tc_other', ENDED),
  ];
  for (const changes of calls) for (const change of changes) await store.write([change]);
  await store.close();
});

/** A letter of the rows is another one. */
function damage(...rows: readonly (readonly [id: string, version: number])[]) {
  const database = new DatabaseSync(file);
  const change = database.prepare(
    "UPDATE log SET events = replace(events, 'actor', 'actoR') WHERE call_id = ? AND version = ?",
  );
  for (const row of rows) expect(change.run(...row).changes).toBe(1);
  database.close();
}

/** Of what is made from the log: nothing of the truth is missing. */
function loseIndex() {
  const database = new DatabaseSync(file);
  database.exec('DROP INDEX calls_by_tool; DELETE FROM calls');
  database.close();
}

async function salvage<T>(use: (store: Store, lines: readonly string[]) => Promise<T>): Promise<T> {
  const lines = salvageStore({ file, now, report: () => {} });
  const store = createSqliteStore({ file });
  try {
    return await use(store, lines);
  } finally {
    await store.close();
  }
}

test('[ST84] of a call whose first row is lost nothing is kept, of another what stands before a gap', async () => {
  damage(['tc_ended', 1], ['tc_other', 3]);
  await salvage(async (store, lines) => {
    expect(lines).toContain('log: 6 rows kept, 6 lost');
    expect(await store.getCall('tc_ended')).toBeUndefined();
    const events = await store.callEvents('tc_other', { after: 0, limit: 10 });
    expect(events.map(({ version, type }) => [version, type])).toEqual([
      [1, 'any'],
      [2, 'any'],
      [3, 'interrupted'],
    ]);
  });
});

test('[ST85] a call that may have been started in what is lost is ended, and not run again', async () => {
  damage(['tc_other', 2]);
  await salvage(async (store, lines) => {
    expect(lines).toContain(
      '3 open calls are ended as interrupted: that they ran may be what is lost',
    );
    expect(await store.openCalls()).toEqual([]);
    for (const id of ['tc_other', 'tc_queued', 'tc_granted']) {
      expect(await store.getCall(id)).toMatchObject({
        status: 'FAILED',
        error: { code: 'interrupted', executed: 'unknown' },
        card: { status: 'ERROR', error: { executed: 'unknown' } },
        completedAt: now(),
      });
    }
    expect(await store.getCall('tc_ended')).toMatchObject({ status: 'SUCCEEDED', result: 'done' });
    const { calls } = await store.listCalls({ limit: 10, status: 'FAILED' });
    expect(calls).toHaveLength(3);
  });
});

test('[ST85] of a log that is whole, open calls are left to the start', async () => {
  loseIndex();
  await salvage(async (store, lines) => {
    expect(lines).toContain('log: 12 rows kept, 0 lost');
    const open = await store.openCalls();
    expect(open.map(({ id, granted }) => [id, granted])).toEqual([
      ['tc_queued', false],
      ['tc_granted', true],
    ]);
    expect((await store.listCalls({ limit: 10, text: 'done' })).calls).toHaveLength(2);
  });
});

test.each([
  ['the mark tells of more', () => openMark(file, 13).close()],
  ['there is no mark', () => rmSync(markFile(file))],
])('[ST85] where %s, nobody knows what the open calls did last', async (_, change) => {
  loseIndex();
  change();
  await salvage(async (store) => expect(await store.openCalls()).toEqual([]));
});

test('[ST85] what was ended so goes on in order: its rows follow all others, and the mark', async () => {
  damage(['tc_other', 4]);
  await salvage(async (store) => {
    await store.write(writesOf('tc_z', ENDED).slice(0, 1));
    expect(await store.getCall('tc_z')).toMatchObject({ version: 1 });
  });
  expect(readFileSync(markFile(file), 'utf8')).toMatch(/^commits 0+16 /);
});
