import { expect, test } from 'vitest';
import type { CallRecord } from '#lib/call/call-record';
import { mergeCard } from '#lib/call/merge-card';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { Card, CardUpdate } from '#lib/protocol/card';
import { type Change, type Store, StoreFailedError } from '../store/store.ts';
import { advance, firstCard } from './advance.ts';
import { createCallLedger } from './call-ledger.ts';
import { blankRecord } from './invoke.ts';

/** A ledger on a disk that is as slow as the test wants: each write waits to be let through. */
function setup() {
  const disk: { changes: readonly Change[]; done(): void; fail(error: Error): void }[] = [];
  const written: CallRecord[] = [];
  const published: CardUpdate[] = [];
  const errors: unknown[] = [];
  const clock = createManualClock();
  const write: Store['write'] = (changes) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    disk.push({ changes, done: resolve, fail: reject });
    return promise;
  };
  const ledger = createCallLedger({
    store: { write, getCall: async (id) => written.findLast((one) => one.id === id) } as Pick<
      Store,
      'write' | 'getCall'
    > as Store,
    bus: {
      publish(event) {
        if (event.type === 'call') published.push(event.update);
        return published.length;
      },
    },
    clock,
    endedLimits: { totalBytes: 100_000, shareBytes: 30_000, shown: 20 },
    onDurable: () => {},
    onError: (error) => errors.push(error),
  });
  /** Lets the oldest write through, and all that follows from it in this moment. */
  const flush = async () => {
    const next = disk.shift();
    if (!next) throw new Error('Nothing is being written');
    for (const change of next.changes) if (change.type === 'put_call') written.push(change.call);
    next.done();
    await new Promise(setImmediate);
  };
  const blank = {
    ...blankRecord('tc_1', 1_000),
    runId: 'run_1',
    toolName: 'camera',
    source: 'server' as const,
    args: {},
    annotations: {},
    timeoutMs: 1_000,
    wantedClientId: null,
    retryOf: null,
    requestedBy: 'operator',
  };
  const first: CallRecord = { ...blank, card: firstCard(blank, null) };
  const step = (event: Parameters<typeof advance>[1]) => {
    const latest = ledger.latest('tc_1');
    const moved = latest && advance(latest, event, 2_000);
    if (!moved?.ok) throw new Error('Cannot be');
    return ledger.commit(moved.record, [moved.update]);
  };
  /** A call that runs, on disk and published. */
  const running = async () => {
    void ledger.commit(first, [first.card]);
    void step({ type: 'arguments_complete', check: 'allow' });
    void step({ type: 'started_here' });
    while (disk.length > 0) await flush();
    published.length = 0;
    written.length = 0;
  };
  /** Another call that has ended with this result, on disk and published. */
  const end = async (id: string, result: unknown) => {
    const record: CallRecord = {
      ...first,
      id,
      status: 'SUCCEEDED',
      phase: null,
      createdAt: first.createdAt + written.length,
      result,
      card: { ...first.card, status: 'SUCCESS', result: `of ${id}` },
    };
    void ledger.commit(record, [record.card]);
    await flush();
    // Memory lets go of it after that turn.
    await new Promise(setImmediate);
    return record;
  };
  const cardOf = () => ledger.shown()[0]?.card;
  const seen = (from: Card | undefined) => published.reduce<Card | undefined>(mergeCard, from);
  return {
    ledger,
    clock,
    disk,
    written,
    published,
    errors,
    flush,
    first,
    step,
    running,
    end,
    cardOf,
    seen,
  };
}

test('[CA11] a tip is published when it is on disk, and is in no snapshot before', async () => {
  const { ledger, published, flush, running, cardOf, written } = setup();
  await running();
  ledger.tell('tc_1', { tip: 'Focusing' });
  expect([published, cardOf()?.tip]).toEqual([[], undefined]);
  await flush();
  expect(published).toEqual([{ tip: 'Focusing' }]);
  expect([cardOf()?.tip, written[0]?.card.tip]).toEqual(['Focusing', 'Focusing']);
});

test('[CA11] what comes while the call is written shares the next write, each published in order', async () => {
  const { ledger, disk, published, flush, running, written } = setup();
  await running();
  for (const done of [1, 2, 3, 4]) ledger.tell('tc_1', { progress: { done } });
  expect(disk).toHaveLength(1);
  await flush();
  expect(published).toEqual([{ progress: { done: 1 } }]);
  expect(disk).toHaveLength(1);
  await flush();
  expect(published.map(({ progress }) => progress?.done)).toEqual([1, 2, 3, 4]);
  expect(written.map(({ card }) => card.progress?.done)).toEqual([1, 4]);
  expect(disk).toHaveLength(0);
});

test('[CA11] a tip overtakes no state, and the end is written and published with all before it', async () => {
  const { ledger, published, flush, running, step, written, cardOf, seen } = setup();
  await running();
  const before = cardOf();
  ledger.tell('tc_1', { tip: 'one' });
  ledger.tell('tc_1', { tip: 'two' });
  void step({ type: 'finished_here', error: null });
  ledger.tell('tc_1', { tip: 'after the end' });
  await flush();
  await flush();
  expect(published.map(({ tip, status }) => status ?? tip)).toEqual(['one', 'two', 'SUCCESS']);
  expect(written.at(-1)).toMatchObject({ status: 'SUCCEEDED', card: { tip: 'two' } });
  expect(cardOf()).toEqual(seen(before));
});

test('[CA11] a tip while a state is being written waits for it', async () => {
  const { ledger, published, flush, first, disk } = setup();
  void ledger.commit(first, [first.card]);
  ledger.tell('tc_1', { tip: 'early' });
  expect(disk).toHaveLength(1);
  await flush();
  expect(published).toEqual([first.card]);
  await flush();
  expect(published.at(-1)).toEqual({ tip: 'early' });
});

test('[CA11] what cannot be written is never published', async () => {
  const { ledger, disk, published, errors, running } = setup();
  await running();
  ledger.tell('tc_1', { tip: 'lost' });
  disk.shift()?.fail(new StoreFailedError('the disk is gone'));
  await new Promise(setImmediate);
  expect([published, errors.length]).toEqual([[], 1]);
});

test('[CA11] a write that is rejected by itself holds up nothing that comes after it', async () => {
  const { ledger, disk, published, flush, running } = setup();
  await running();
  ledger.tell('tc_1', { tip: 'no JSON' });
  ledger.tell('tc_1', { tip: 'waits for that write' });
  disk.shift()?.fail(new TypeError('a value that cannot be written'));
  await new Promise(setImmediate);
  await flush();
  ledger.tell('tc_1', { tip: 'later' });
  await flush();
  expect(published).toEqual([{ tip: 'waits for that write' }, { tip: 'later' }]);
});

test('[CA20] of two large previews that begin alike and are equally long the record has the newer', async () => {
  const { ledger, flush, written, published, running } = setup();
  await running();
  const large = (end: string) => `${'x'.repeat(20_000)}${end}`;
  for (const end of ['1', '2']) {
    ledger.tell('tc_1', { preview: large(end) });
    await flush();
  }
  expect(written.at(-1)?.preview).toBe(large('2'));
  expect(published).toHaveLength(2);
});

test('[CA11] arguments that are still being written are shown at once, and only those', async () => {
  const { ledger, disk, published, flush, first, running } = setup();
  void ledger.commit(first, [first.card]);
  await flush();
  ledger.sketch('tc_1', { params: { a: 'lo' }, partial: true });
  expect(disk).toHaveLength(0);
  expect(published.at(-1)).toMatchObject({ params: { a: 'lo' } });
  await running();
  ledger.sketch('tc_1', { params: { a: 'late' } });
  expect(published).toEqual([]);
});

test('[CA13] those who wait are let go with what there is, and nobody waits after that', async () => {
  const { ledger, running } = setup();
  await running();
  const waiting = ledger.wait('tc_1', 30_000);
  ledger.releaseWaiters();
  expect(await waiting).toMatchObject({ status: 'RUNNING' });
  expect(await ledger.wait('tc_1', 30_000)).toMatchObject({ status: 'RUNNING' });
});

const KEPT = ['tc_a', 'tc_b', 'tc_c', 'tc_d', 'tc_e', 'tc_f', 'tc_g', 'tc_h'];

test('[CA21] of calls that have ended memory holds the newest by their bytes, and all stay to be had', async () => {
  const { ledger, end } = setup();
  for (const id of KEPT) await end(id, 'x'.repeat(20_000));
  const inMemory = KEPT.filter((id) => ledger.latest(id));
  expect(inMemory).toEqual(['tc_e', 'tc_f', 'tc_g', 'tc_h']);
  expect((await ledger.get('tc_a'))?.result).toHaveLength(20_000);
  expect(ledger.shown().map(({ id, card }) => [id, card.result])).toEqual(
    KEPT.map((id) => [id, `of ${id}`]),
  );
});

test('[CA21] one that is larger than a share takes no place of others, and is shown', async () => {
  const { ledger, end } = setup();
  await end('tc_a', 'small');
  await end(
    'tc_large',
    Array.from({ length: 2_000 }, (_, n) => `row ${n}`),
  );
  expect([ledger.latest('tc_a')?.id, ledger.latest('tc_large')]).toEqual(['tc_a', undefined]);
  expect(await ledger.wait('tc_large', 0)).toMatchObject({ status: 'SUCCEEDED' });
  expect(ledger.shown().map(({ id }) => id)).toEqual(['tc_a', 'tc_large']);
});

test('[CA21] a late result of one that is not in memory is written and shown, once', async () => {
  const { ledger, end, flush, published } = setup();
  const large = await end('tc_large', 'x'.repeat(40_000));
  const amended = ledger.amend({ ...large, lateResult: 'late' }, { late_result: true });
  const flushed = flush();
  await amended;
  // A snapshot of this very moment has what was published in it.
  expect(published.at(-1)).toEqual({ late_result: true });
  const marks = () => ledger.shown().map(({ id, card }) => [id, card.late_result]);
  expect(marks()).toEqual([['tc_large', true]]);
  await flushed;
  expect(marks()).toEqual([['tc_large', true]]);
  expect(await ledger.get('tc_large')).toMatchObject({ lateResult: 'late' });
});

test('[CA22] a large call that ends is in memory to the end of that turn', async () => {
  const { ledger, first, disk } = setup();
  const ended: CallRecord = {
    ...first,
    status: 'SUCCEEDED',
    phase: null,
    result: 'x'.repeat(40_000),
  };
  const written = ledger.commit(ended, []);
  const seen: unknown[] = [];
  void written.then(() => Promise.resolve()).then(() => seen.push(ledger.latest('tc_1')?.status));
  disk.shift()?.done();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect([seen, ledger.latest('tc_1')]).toEqual([['SUCCEEDED'], undefined]);
});

test('[CA23] waiting for an open call that was not taken up takes its time, and then reads it again', async () => {
  const { ledger, clock, written, first } = setup();
  written.push(first);
  let isOver = false;
  const waiting = ledger.wait('tc_1', 1_000).finally(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  clock.advance(1_000);
  expect(await waiting).toBe(first);
});
