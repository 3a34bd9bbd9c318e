import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { finalCall, sampleCall } from '#lib/call/testing/sample-call';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { Attachment } from '#lib/protocol/attachment';
import { run as anyRun } from '#lib/stores/testing/fixtures';
import { tempDir } from '#lib/testing/temp-dir';
import { createDiskBlobStore } from '../blobs/disk-blob-store.ts';
import type { Change } from '../store/store.ts';
import { createStoreOnThisThread } from '../store/testing/store-on-this-thread.ts';
import { appendCall } from '../store/testing/store-setup.ts';
import { throwingLogger } from '../testing/error-log.ts';
import { type Keep, Retention } from './retention.ts';

const DAY = 24 * 60 * 60 * 1_000;
const NOW = Date.now();
/** On a machine that does much else. */
const SLOW = { timeout: 15_000 };

function setup(keep: Partial<Keep>) {
  const dir = tempDir();
  const file = join(dir, 'callboard.db');
  const store = createStoreOnThisThread({ file });
  onTestFinished(() => store.close());
  const blobDir = join(dir, 'blobs');
  const blobs = createDiskBlobStore({ dir: blobDir });
  const clock = createManualClock(NOW);
  const writes: Change[] = [];
  const busyCalls = new Set<string>();
  const busyRuns = new Set<string>();
  const create = (given: { onWrite?(): void } = {}) => {
    const retention = new Retention({
      keep: { days: undefined, bytes: undefined, ...keep },
      store: {
        history: store.history,
        async write(changes) {
          writes.push(...changes);
          await store.write(changes);
          given.onWrite?.();
        },
      },
      blobs,
      forgetCalls: (ids) => ids.filter((id) => !busyCalls.has(id)),
      async deleteRun(runId, work) {
        if (!busyRuns.has(runId)) await work();
        return !busyRuns.has(runId);
      },
      clock,
      logger: throwingLogger,
    });
    onTestFinished(() => retention.stop());
    return retention;
  };
  /** A picture that was put some days ago. */
  const picture = async (text: string, daysAgo: number): Promise<Attachment> => {
    const put = await blobs.put({ mediaType: 'text/plain', bytes: Buffer.from(text) });
    if (!put.ok) throw new Error(put.message);
    const at = (NOW - daysAgo * DAY) / 1_000;
    utimesSync(join(blobDir, put.attachment.blob_id), at, at);
    return put.attachment;
  };
  const ids = async () =>
    (await store.listCalls({ limit: 200 })).calls.map(({ id }) => id).toSorted();
  return { file, blobDir, store, blobs, clock, create, picture, ids, writes, busyCalls, busyRuns };
}

type Parts = ReturnType<typeof setup>;

const putEnded = ({ store }: Parts, id: string, daysAgo: number, given: Partial<Call> = {}) => {
  const completedAt = NOW - daysAgo * DAY;
  const times = { createdAt: completedAt - 5, completedAt };
  const call = finalCall({ id, version: 1, ...times, ...given });
  return store.write([appendCall(call)]);
};

const putRun = ({ store }: Parts, runId: string, daysAgo: number) => {
  const at = (NOW - daysAgo * DAY) / 1_000;
  const run = anyRun(runId, { status: 'idle', created_at: at, updated_at: at });
  return store.write([
    { type: 'put_run', run },
    {
      type: 'put_message',
      position: 0,
      message: {
        ...{ message_id: `msg_${runId}`, run_id: runId, role: 'user', status: 'done' },
        ...{ parts: [{ type: 'text', text: 'hi' }], created_at: at },
      },
    },
  ]);
};

test('[ST65] by age what ended before goes, with its blobs; what is open or newer stays', async () => {
  const parts = setup({ days: 30 });
  const [old, shared] = [await parts.picture('old', 40), await parts.picture('shared', 40)];
  await putEnded(parts, 'tc_1', 40, { attachments: [old, shared] });
  await putEnded(parts, 'tc_2', 29, { attachments: [shared] });
  const open = sampleCall({ id: 'tc_3', version: 1, createdAt: NOW - 90 * DAY });
  await parts.store.write([appendCall(open)]);
  await parts.create().pass();
  expect(await parts.ids()).toEqual(['tc_2', 'tc_3']);
  expect(readdirSync(parts.blobDir).toSorted()).toEqual(
    [shared.blob_id, `${shared.blob_id}.json`].toSorted(),
  );
});

test('[ST65] by age a conversation goes once it is old and has no calls, and not while it is in use', async () => {
  const parts = setup({ days: 30 });
  for (const runId of ['run_1', 'run_2', 'run_3']) await putRun(parts, runId, 40);
  await putRun(parts, 'run_4', 2);
  await putEnded(parts, 'tc_1', 40, { runId: 'run_1' });
  await putEnded(parts, 'tc_2', 3, { runId: 'run_2' });
  parts.busyRuns.add('run_3');
  await parts.create().pass();
  const { runs } = await parts.store.listRuns({ limit: 9 });
  expect(runs.map(({ run_id }) => run_id).toSorted()).toEqual(['run_2', 'run_3', 'run_4']);
  expect((await parts.store.listMessages({ runId: 'run_1', maxChars: 1e6 })).messages).toEqual([]);
  expect((await parts.store.listMessages({ runId: 'run_2', maxChars: 1e6 })).messages).toHaveLength(
    1,
  );
});

test('[ST65] one write deletes 50 calls, or 2 MiB, at most', async () => {
  const parts = setup({ days: 1 });
  const large = { result: 'x'.repeat(900 * 1024) };
  for (let n = 0; n < 5; n += 1) await putEnded(parts, `tc_large_${n}`, 9, large);
  for (let n = 0; n < 120; n += 1) await putEnded(parts, `tc_${n}`, 8);
  await parts.create().pass();
  const sizes = parts.writes.flatMap((change) =>
    change.type === 'delete_calls' ? [change.ids.length] : [],
  );
  expect(sizes.slice(0, 2)).toEqual([2, 2]);
  expect(Math.max(...sizes)).toBe(50);
  expect(await parts.ids()).toEqual([]);
});

test('[ST65] a call of which more is to be written stays, and is met again', async () => {
  const parts = setup({ days: 1 });
  for (const id of ['tc_1', 'tc_2']) await putEnded(parts, id, 9);
  parts.busyCalls.add('tc_1');
  const retention = parts.create();
  await retention.pass();
  expect(await parts.ids()).toEqual(['tc_1']);
  parts.busyCalls.clear();
  await retention.pass();
  expect(await parts.ids()).toEqual([]);
});

test('[ST66] by bytes the oldest go until the rest fits, and what comes later takes their place in the file', async () => {
  const limit = 4 * 1024 * 1024;
  const parts = setup({ bytes: limit });
  const retention = parts.create();
  const sizes: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    for (let n = 0; n < 30; n += 1) {
      const result = `${round} ${n} `.repeat(20_000);
      await putEnded(parts, `tc_${round}_${n + 10}`, 9 - round - n / 100, { result });
    }
    await retention.pass();
    const { usedBytes, freeBytes } = await parts.store.history.size();
    expect(usedBytes).toBeLessThanOrEqual(limit);
    sizes.push(usedBytes + freeBytes);
  }
  const ids = await parts.ids();
  expect(ids).toContain('tc_5_39'); // It ended last.
  expect(ids.filter((id) => id.startsWith('tc_0'))).toEqual([]);
  // Each round writes more than 3 MiB: six of them into what the limit and one round take.
  expect(Math.max(...sizes)).toBeLessThan(limit + 6 * 1024 * 1024);
});

test('[ST66] by bytes blobs count, and what ended in the last ten minutes stays', async () => {
  const parts = setup({ bytes: 1024 * 1024 });
  const large = await parts.picture('x'.repeat(2 * 1024 * 1024), 9);
  await putEnded(parts, 'tc_1', 9, { attachments: [large] });
  await putEnded(parts, 'tc_2', 8);
  const kept = await parts.picture('y'.repeat(2 * 1024 * 1024), 0);
  await putEnded(parts, 'tc_3', 0, { attachments: [kept] });
  await parts.create().pass();
  expect(await parts.ids()).toEqual(['tc_3']);
  expect(await parts.blobs.read(large.blob_id)).toBeUndefined();
  expect(await parts.blobs.read(kept.blob_id)).toBeDefined();
});

test('[ST64] ended between two steps, the next process removes the files that nothing refers to', async () => {
  const parts = setup({ days: 1 });
  const [old, young] = [await parts.picture('old', 40), await parts.picture('young', 0)];
  await putEnded(parts, 'tc_1', 40, { attachments: [old] });
  // The call is deleted; the process ends before its file is.
  const killed = parts.create({
    onWrite() {
      throw new Error('killed');
    },
  });
  await expect(killed.pass()).rejects.toThrow('killed');
  expect(await parts.ids()).toEqual([]);
  expect(await parts.blobs.read(old.blob_id)).toBeDefined();
  await parts.create().pass();
  expect(await parts.blobs.read(old.blob_id)).toBeUndefined();
  expect(await parts.blobs.read(young.blob_id)).toBeDefined(); // An answer may name it yet.
});

test('[ST64] a blob that was put again stays, although its call goes', async () => {
  const parts = setup({ days: 1 });
  const again = await parts.picture('again', 40);
  await putEnded(parts, 'tc_1', 40, { attachments: [again] });
  await parts.blobs.put({ mediaType: 'text/plain', bytes: Buffer.from('again') });
  await parts.create().pass();
  expect(await parts.ids()).toEqual([]);
  expect(await parts.blobs.read(again.blob_id)).toBeDefined();
});

test('[ST65] without a limit nothing is deleted, or even looked for', async () => {
  const parts = setup({});
  await putEnded(parts, 'tc_1', 9_000);
  const retention = parts.create();
  retention.start();
  parts.clock.advance(DAY);
  await retention.stop();
  expect(await parts.ids()).toEqual(['tc_1']);
  expect(parts.writes).toEqual([]);
});

test('[ST65] the first pass follows the start, the next ones each minute, none the stop', async () => {
  const parts = setup({ days: 1 });
  const retention = parts.create();
  await putEnded(parts, 'tc_1', 9);
  retention.start();
  parts.clock.advance(5_000);
  await expect.poll(parts.ids, SLOW).toEqual([]);
  await putEnded(parts, 'tc_2', 9);
  await expect
    .poll(() => {
      parts.clock.advance(60_000);
      return parts.ids();
    }, SLOW)
    .toEqual([]);
  await retention.stop();
  await putEnded(parts, 'tc_3', 9);
  parts.clock.advance(DAY);
  expect(await parts.ids()).toEqual(['tc_3']);
});

test.each([{ days: 30 }, { bytes: 1 }])(
  '[ST73] acts as old as the calls that go are deleted, the newest one stays: %j',
  SLOW,
  async (keep) => {
    const parts = setup(keep);
    const { store, create } = parts;
    await putEnded(parts, 'tc_old', 40);
    const act = (seq: number, daysAgo: number) =>
      ({
        type: 'append_audit',
        entry: {
          ...{ seq, at: NOW - daysAgo * DAY, actor: 'operator', tokenId: null, address: '::1' },
          act: 'signed_in',
          ...{ target: null, detail: {} },
        },
      }) as const;
    await store.write([act(1, 50), act(2, 41), act(3, 1)]);
    await create().pass();
    const left = async () => (await store.listAudit({ limit: 9 })).entries.map(({ seq }) => seq);
    expect(await left()).toEqual([3]);
  },
);
