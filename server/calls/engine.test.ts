import { describe, expect, test } from 'vitest';
import { type Call, type CallFields, NO_ROUTING, type Provider } from '#lib/call/call';
import type { CallEvent } from '#lib/call/call-event';
import type { Effect } from '#lib/call/effects';
import { foldEvent } from '#lib/call/fold';
import { mergeCard } from '#lib/call/merge-card';
import { changed, freshCall } from '#lib/call/testing/sample-call';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { Card, CardUpdate } from '#lib/protocol/card';
import { Withholding } from '../secrets/withholding.ts';
import type { Store } from '../store/sqlite-store.ts';
import type { Change } from '../store/store.ts';
import { StoreFailedError, VersionConflictError } from '../store/store-errors.ts';
import { CallRepository } from './call-repository.ts';
import { CallEngine } from './engine.ts';

const blank = (id: string, more: Partial<Call> = {}): Call =>
  freshCall({ id, source: 'server', toolProvider: 'server', timeoutMs: 1_000, ...more });

const phone: Provider = {
  clientId: 'phone',
  instanceId: 'phone-1',
  attempt: 1,
  claims: true,
  journalEpoch: 'e1',
};
const from = { clientId: 'phone', instanceId: 'phone-1', attempt: 1 };
const LATE: CallEvent = { type: 'late_answer', from, error: null, fields: { result: 'late' } };
const ALLOWED = { type: 'arguments_complete', check: 'allow' } as const;

/** An engine on a disk that is as slow as the test wants: each write waits to be let through. */
function setup() {
  const disk: {
    changes: readonly Change[];
    mayWait: boolean | undefined;
    done(): void;
    fail(error: Error): void;
  }[] = [];
  const written: Call[] = [];
  const published: CardUpdate[] = [];
  const errors: unknown[] = [];
  const decided: Call[] = [];
  const ran: Effect['type'][] = [];
  const clock = createManualClock();
  const store: Pick<Store, 'write' | 'getCall' | 'callBytes'> = {
    write(changes, options) {
      if (changes.length === 0) return Promise.resolve();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      disk.push({ changes, mayWait: options?.mayWait, done: resolve, fail: reject });
      return promise;
    },
    async getCall(id) {
      if (unreadable) throw unreadable;
      return written.findLast((one) => one.id === id);
    },
    callBytes: async () => 0,
  };
  const repository = new CallRepository({
    store,
    clock,
    endedLimits: { totalBytes: 100_000, shareBytes: 30_000, shown: 20 },
  });
  let routed: CallEvent | undefined = { type: 'started_here' };
  let unreadable: Error | undefined;
  const engine = new CallEngine({
    store,
    publish: (_, update) => void published.push(update),
    clock,
    repository,
    besides: (_, event) => event,
    withholding: new Withholding({ find: () => undefined }),
    route: () => routed,
    run: ({ type }) => ran.push(type),
    onDecided: (record) => decided.push(record),
    onDurable: () => {},
    logger: { error: (cause) => void errors.push(cause), info: () => {} },
  });
  /** Lets the oldest write through, and all that follows from it in this moment. */
  const flush = async () => {
    const next = disk.shift();
    if (!next) throw new Error('Nothing is being written');
    for (const change of next.changes) if (change.type === 'append_call') written.push(change.call);
    next.done();
    await new Promise(setImmediate);
  };
  const flushAll = async () => {
    while (disk.length > 0) await flush();
  };
  const draft = () => engine.create(blank('tc_1'), undefined, 'operator');
  const apply = (event: CallEvent, id = 'tc_1') => {
    const latest = repository.latest(id);
    if (!latest) throw new Error('Cannot be');
    return engine.apply(latest, event, 'operator');
  };
  /** A call that runs, on disk and published. */
  const running = async () => {
    engine.create(blank('tc_1'), ALLOWED, 'operator');
    await flushAll();
    published.length = 0;
    written.length = 0;
  };
  /** Another call that has ended with this result, on disk and published. */
  const end = async (id: string, result: unknown) => {
    const createdAt = 1_000 + written.length;
    engine.create(changed(blank(id), { provider: phone, createdAt }), ALLOWED, 'operator');
    apply({ type: 'finished_here', error: null, fields: { result } }, id);
    await flushAll();
    // Memory drops it after that turn.
    await new Promise(setImmediate);
    const record = written.at(-1);
    if (!record) throw new Error('Cannot be');
    return record;
  };
  const cardOf = () => repository.shown()[0]?.card;
  const seen = (from: Card | undefined) => published.reduce<Card | undefined>(mergeCard, from);
  return {
    ...{ engine, repository, clock, disk, written, published, errors, ran, decided },
    ...{ flush, flushAll, draft, apply, running, end, cardOf, seen },
    failReads(error: Error) {
      unreadable = error;
    },
    routeTo(event: CallEvent | undefined) {
      routed = event;
    },
  };
}

test('[CA11] a tip is published when it is on disk, and is in no snapshot before', async () => {
  const { engine, published, flush, running, cardOf, written, disk } = setup();
  await running();
  engine.status('tc_1', { tip: 'Focusing' });
  expect(disk[0]?.changes).toMatchObject([{ event: { type: 'status', actor: 'server' } }]);
  expect([published, cardOf()?.tip]).toEqual([[], undefined]);
  await flush();
  expect(published).toEqual([{ tip: 'Focusing' }]);
  expect([cardOf()?.tip, written[0]?.card.tip]).toEqual(['Focusing', 'Focusing']);
});

test('[CA11] what comes while the call is written is joined, and shares the next write', async () => {
  const { engine, disk, published, flush, running, written } = setup();
  await running();
  for (const done of [1, 2, 3, 4]) engine.status('tc_1', { progress: { done } });
  expect(disk).toHaveLength(1);
  await flush();
  expect(published).toEqual([{ progress: { done: 1 } }]);
  expect(disk).toHaveLength(1);
  await flush();
  expect(published.map(({ progress }) => progress?.done)).toEqual([1, 4]);
  expect(written.map(({ card }) => card.progress?.done)).toEqual([1, 4]);
  expect(disk).toHaveLength(0);
});

test('[CE9] of what a tool shows three are events at once, then one each 250 ms, and the end has the rest', async () => {
  const { engine, clock, published, flushAll, running, apply, cardOf } = setup();
  await running();
  const show = async (done: number) => {
    engine.status('tc_1', { progress: { done } });
    await flushAll();
    return published.map(({ progress }) => progress?.done);
  };
  for (const done of [1, 2, 3]) expect((await show(done)).at(-1)).toBe(done);
  for (const done of [4, 5]) expect((await show(done)).at(-1)).toBe(3);
  clock.advance(249);
  await flushAll();
  expect(published).toHaveLength(3);
  clock.advance(1);
  await flushAll();
  expect(published.at(-1)).toEqual({ progress: { done: 5 } });
  expect((await show(6)).at(-1)).toBe(5);
  apply({ type: 'finished_here', error: null, fields: { result: 1 } });
  await flushAll();
  expect(cardOf()?.progress).toEqual({ done: 6 });
  clock.advance(10_000);
  await flushAll();
  expect(published.filter(({ progress }) => progress)).toHaveLength(5);
  expect(published.at(-1)?.status).toBe('SUCCESS');
});

test('[CA11] a tip overtakes no state, and the end is written and published with all before it', async () => {
  const { engine, published, flush, running, apply, written, cardOf, seen, disk } = setup();
  await running();
  const before = cardOf();
  engine.status('tc_1', { tip: 'one' });
  engine.status('tc_1', { tip: 'two' });
  apply({ type: 'finished_here', error: null });
  engine.status('tc_1', { tip: 'after the end' });
  await flush();
  await flush();
  expect(published.map(({ tip, status }) => status ?? tip)).toEqual(['one', 'two', 'SUCCESS']);
  expect(disk).toHaveLength(0);
  expect(written.at(-1)).toMatchObject({ status: 'SUCCEEDED', card: { tip: 'two' } });
  expect(cardOf()).toEqual(seen(before));
});

test('[CE4] an event whose write is rejected alone is taken back, and the next one has its version', async () => {
  const { engine, repository, running, apply, disk, flush, ran } = setup();
  await running();
  ran.length = 0;
  const before = repository.latest('tc_1');
  const applied = apply({ type: 'finished_here', error: null });
  engine.status('tc_1', { tip: 'still at it' });
  disk.shift()?.fail(new TypeError('a value that cannot be written'));
  await new Promise(setImmediate);
  await expect(applied.ok && applied.written).rejects.toThrow('cannot be written');
  expect(repository.latest('tc_1')).toMatchObject({ status: 'RUNNING', version: before?.version });
  const again = apply({ type: 'finished_here', error: null });
  expect(again).toMatchObject({ ok: true, record: { version: (before?.version ?? 0) + 1 } });
  await flush();
  expect(repository.latest('tc_1')?.status).toBe('SUCCEEDED');
});

test('[CE4] a call whose first write is rejected alone is not there', async () => {
  const { engine, repository, disk, ran, decided } = setup();
  const applied = engine.create(blank('tc_1'), ALLOWED, 'operator');
  const waiting = repository.wait('tc_1', 30_000);
  disk.shift()?.fail(new TypeError('a value that cannot be written'));
  await expect(applied.ok && applied.written).rejects.toThrow('cannot be written');
  expect([repository.latest('tc_1'), repository.open(), ran]).toEqual([undefined, [], []]);
  expect(await waiting).toBeUndefined();
  expect(decided.at(-1)).toMatchObject({ status: 'FAILED' });
  expect(decided.at(-1)?.deadlines).toEqual({});
});

test('[CE4] what a failed store may have on disk stays decided, and nothing else is published', async () => {
  const { engine, repository, running, apply, disk, decided, published } = setup();
  await running();
  const begun = engine.create(blank('tc_2'), ALLOWED, 'operator');
  const ended = apply({ type: 'finished_here', error: null });
  let woken = 0;
  for (const id of ['tc_1', 'tc_2']) void repository.wait(id, 30_000).finally(() => (woken += 1));
  const before = [repository.latest('tc_1'), repository.latest('tc_2'), decided.length];
  for (const { fail } of disk) fail(new StoreFailedError('the disk is gone'));
  await new Promise(setImmediate);
  await expect(begun.ok && begun.written).rejects.toThrow('the disk is gone');
  await expect(ended.ok && ended.written).rejects.toThrow('the disk is gone');
  expect([repository.latest('tc_1'), repository.latest('tc_2'), decided.length]).toEqual(before);
  expect([before[0], woken, published]).toMatchObject([{ status: 'SUCCEEDED' }, 0, []]);
});

test('[CA20] of two large previews that begin alike and are equally long the record has the newer', async () => {
  const { engine, flush, written, published, running } = setup();
  await running();
  const large = (end: string) => `${'x'.repeat(20_000)}${end}`;
  for (const end of ['1', '2']) {
    engine.status('tc_1', { preview: large(end) });
    await flush();
  }
  expect(written.at(-1)?.preview).toBe(large('2'));
  expect(published).toHaveLength(2);
});

test('[CA11] arguments that are still being written are shown at once, and only those', async () => {
  const { engine, disk, published, flush, draft, running, cardOf } = setup();
  draft();
  engine.sketch('tc_1', { params: { a: 'of a call that nobody was shown' } });
  expect(published).toEqual([]);
  await flush();
  engine.sketch('tc_1', { params: { a: 'lo' }, partial: true });
  expect(disk).toHaveLength(0);
  expect(published.at(-1)).toMatchObject({ params: { a: 'lo' } });
  expect(cardOf()?.params).toEqual({ a: 'lo' });
  await running();
  engine.sketch('tc_1', { params: { a: 'late' } });
  expect(published).toEqual([]);
});

test('[CA11] what was shown already is neither written nor published again', async () => {
  const { engine, disk, flush, running, published } = setup();
  await running();
  engine.status('tc_1', { tip: 'once' });
  await flush();
  engine.status('tc_1', { tip: 'once' });
  expect([published.length, disk.length]).toEqual([1, 0]);
});

test('[CA13] those who wait are let go with what there is, and nobody waits after that', async () => {
  const { repository, running } = setup();
  await running();
  const waiting = repository.wait('tc_1', 30_000);
  repository.releaseWaiters();
  expect(await waiting).toMatchObject({ status: 'RUNNING' });
  expect(await repository.wait('tc_1', 30_000)).toMatchObject({ status: 'RUNNING' });
});

const KEPT = ['tc_a', 'tc_b', 'tc_c', 'tc_d', 'tc_e', 'tc_f', 'tc_g', 'tc_h'];

test('[CA21] of calls that have ended memory holds the newest by their bytes, and all stay to be had', async () => {
  const { repository, end } = setup();
  for (const id of KEPT) await end(id, 'x'.repeat(20_000));
  const inMemory = KEPT.filter((id) => repository.latest(id));
  expect(inMemory).toEqual(['tc_e', 'tc_f', 'tc_g', 'tc_h']);
  expect((await repository.get('tc_a'))?.result).toHaveLength(20_000);
  expect(repository.shown().map(({ id, card }) => [id, card.result_bytes])).toEqual(
    KEPT.map((id) => [id, 20_000]),
  );
});

test('[CA21] one that is larger than a share takes no place of others, and is shown', async () => {
  const { repository, end } = setup();
  await end('tc_a', 'small');
  await end(
    'tc_large',
    Array.from({ length: 2_000 }, (_, n) => `row ${n}`),
  );
  expect([repository.latest('tc_a')?.id, repository.latest('tc_large')]).toEqual([
    'tc_a',
    undefined,
  ]);
  expect(await repository.wait('tc_large', 0)).toMatchObject({ status: 'SUCCEEDED' });
  expect(repository.shown().map(({ id }) => id)).toEqual(['tc_a', 'tc_large']);
});

test('[CA21] a late result of one that is not in memory is written and shown, once', async () => {
  const { engine, repository, end, flush, published } = setup();
  const large = await end('tc_large', 'x'.repeat(40_000));

  const applied = engine.apply(large, LATE, 'client:phone');
  const flushed = flush();
  if (applied.ok) await applied.written;
  // A snapshot of this very moment has what was published in it.
  expect(published.at(-1)).toEqual({ late_result: true });
  const marks = () => repository.shown().map(({ id, card }) => [id, card.late_result]);
  expect(marks()).toEqual([['tc_large', true]]);
  await flushed;
  expect(marks()).toEqual([['tc_large', true]]);
  expect(await repository.get('tc_large')).toMatchObject({ lateResult: 'late' });
});

test('[CA24] a call that is to be deleted leaves memory and snapshots, and one that goes on does not', async () => {
  const { engine, repository, running, end, flush } = setup();
  const old = await end('tc_old', 'old');
  await running();
  const busy = await end('tc_busy', 'busy');
  engine.apply(busy, LATE, 'client:phone');
  const ids = [old.id, 'tc_1', busy.id, 'tc_only_on_disk'];
  expect(repository.forgetEnded(ids)).toEqual(['tc_old', 'tc_only_on_disk']);
  expect(repository.latest('tc_old')).toBeUndefined();
  expect(repository.shown().map(({ id }) => id)).not.toContain('tc_old');
  await flush();
  expect(repository.forgetEnded([busy.id])).toEqual(['tc_busy']);
  expect(repository.latest('tc_1')).toMatchObject({ status: 'RUNNING' });
});

test('[CA22] a large call that ends is in memory to the end of that turn', async () => {
  const { repository, running, apply, disk } = setup();
  await running();
  const fields = { result: 'x'.repeat(40_000) };
  const applied = apply({ type: 'finished_here', error: null, fields });
  if (!applied.ok) throw new Error(applied.refusal);
  const seen: unknown[] = [];
  void applied.written
    .then(() => Promise.resolve())
    .then(() => seen.push(repository.latest('tc_1')?.status));
  disk.shift()?.done();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect([seen, repository.latest('tc_1')]).toEqual([['SUCCEEDED'], undefined]);
});

test('[CA23] waiting for an open call that was not taken up takes its time, and then reads it again', async () => {
  const { repository, clock, written } = setup();
  const call = blank('tc_1');
  written.push(call);
  let isOver = false;
  const waiting = repository.wait('tc_1', 1_000).finally(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  clock.advance(1_000);
  expect(await waiting).toBe(call);
});

const offer = (more: Partial<Provider> = {}, annotations = {}): CallEvent => ({
  type: 'offered',
  provider: { ...phone, ...more },
  rerunnable: Object.keys(annotations).length > 0,
  fields: { annotations },
});
const atClient = (more: Partial<Call> = {}) =>
  blank('tc_1', { source: 'client', toolProvider: 'clients', ...more });
const READING = { readOnlyHint: true };

describe('what an effect waits for', () => {
  test('[CE2] a client that claims is asked before anything is on disk', () => {
    const { engine, routeTo, ran, disk } = setup();
    routeTo(offer());
    engine.create(atClient(), ALLOWED, 'operator');
    expect([ran, disk.length]).toEqual([['request'], 1]);
  });

  test('[CE2] a grant waits for the offer, and not for itself', async () => {
    const { engine, routeTo, ran, apply, flush, flushAll } = setup();
    routeTo(offer());
    engine.create(atClient(), ALLOWED, 'operator');
    apply({ type: 'claimed', from });
    expect(ran).toEqual(['request']);
    await flush();
    expect(ran).toEqual(['request', 'grant']);
    await flushAll();
  });

  const PUT_OFF = { mayWait: true };
  test.each<[string, CallEvent, object, boolean[]]>([
    ['a grant that only its offer waits for', offer(), {}, [false, true, false]],
    [
      'a grant that waits for itself',
      offer({ instanceId: 'http:phone' }),
      {},
      [false, false, false],
    ],
    ['a call that its client claims before the end', offer(), PUT_OFF, [true, false, false]],
  ])('[CA25] what none waits for may be put off: %s', (_name, offered, options, expected) => {
    const { engine, routeTo, apply, disk } = setup();
    routeTo(offered);
    engine.create(atClient(), ALLOWED, 'operator', options);
    const by = offered.type === 'offered' ? { ...from, ...offered.provider } : from;
    apply({ type: 'claimed', from: by });
    apply({ type: 'answered', from: by, error: null, fields: { result: 1 } });
    expect(disk.map(({ mayWait }) => mayWait)).toEqual(expected);
  });

  test.each([
    ['a tool that writes', {}, false],
    ['a tool that only reads', READING, true],
  ])(
    '[CA25] a call whose caller waits for the end may be put off, unless its offer waits: %s',
    (_name, annotations, expected) => {
      const { engine, routeTo, disk } = setup();
      routeTo(offer({ claims: false }, annotations));
      engine.create(atClient(), ALLOWED, 'operator', PUT_OFF);
      expect(disk.map(({ mayWait }) => mayWait)).toEqual([expected]);
    },
  );

  test('[CE2] the grant of a client that polls waits for itself', async () => {
    const { engine, routeTo, ran, apply, flush } = setup();
    const instanceId = 'http:phone';
    routeTo(offer({ instanceId }));
    engine.create(atClient(), ALLOWED, 'operator');
    await flush();
    apply({ type: 'claimed', from: { ...from, instanceId } });
    expect(ran).toEqual(['request']);
    await flush();
    expect(ran).toEqual(['request', 'grant']);
  });

  test.each([
    ['a tool that writes', {}, [], ['request']],
    ['a tool that only reads', READING, ['request'], ['request']],
  ])('[CE2] a client that does not claim: %s', async (_name, annotations, before, after) => {
    const { engine, routeTo, ran, flush } = setup();
    routeTo(offer({ claims: false }, annotations));
    engine.create(atClient(), ALLOWED, 'operator');
    expect(ran).toEqual(before);
    await flush();
    expect(ran).toEqual(after);
  });

  test('[CA14] an offer that waits is no grant that can be taken back', () => {
    const { engine, routeTo } = setup();
    routeTo(offer({ claims: false }));
    engine.create(atClient(), ALLOWED, 'operator');
    expect(engine.hasUnsentStart('tc_1')).toBe(false);
  });

  test('[CE2] a client that does not claim is asked again only with the attempt on disk', async () => {
    const { engine, routeTo, ran, apply, flush } = setup();
    routeTo(offer({ claims: false }, READING));
    engine.create(atClient(), ALLOWED, 'operator');
    await flush();
    apply(offer({ claims: false, attempt: 2 }, READING));
    expect(ran).toEqual(['request']);
    await flush();
    expect(ran).toEqual(['request', 'request']);
  });

  test.each([
    ['writes', {}, []],
    ['only reads', READING, ['run']],
  ])('[CE2] a tool of the server that %s', async (_name, annotations, before) => {
    const { engine, ran, flush } = setup();
    engine.create(blank('tc_1', { annotations }), ALLOWED, 'operator');
    expect(ran).toEqual(before);
    await flush();
    expect(ran).toEqual(['run']);
  });

  test('[CE2] what a person approved starts when the yes is on disk', async () => {
    const { engine, ran, apply, flush, routeTo } = setup();
    const routing = { ...NO_ROUTING, approval: { clientId: null, toolHash: 'h' } };
    engine.create(
      blank('tc_1', { annotations: READING, routing }),
      { type: 'arguments_complete', check: 'ask' },
      'operator',
    );
    await flush();
    routeTo({ type: 'started_here' });
    apply({ type: 'approved' });
    expect(ran).toEqual([]);
    await flush();
    expect(ran).toEqual(['run']);
  });

  test('[CE2] an effect of an event that could not be written does not happen', async () => {
    const { engine, ran, disk, errors } = setup();
    const applied = engine.create(blank('tc_1'), ALLOWED, 'operator');
    disk.shift()?.fail(new StoreFailedError('the disk is gone'));
    await new Promise(setImmediate);
    expect([ran, errors]).toEqual([[], []]);
    await expect(applied.ok && applied.written).rejects.toThrow('the disk is gone');
  });
});

test('[CE2] each effect happens once, when its own event is on disk', async () => {
  const { engine, ran, flush, apply } = setup();
  engine.create(blank('tc_1'), ALLOWED, 'operator');
  apply({ type: 'cancelled', reason: 'enough' });
  await flush();
  expect(ran).toEqual(['run']);
  await flush();
  expect(ran).toEqual(['run', 'stop']);
});

test('[CE2] a tool of the server that takes too long is stopped when its end is on disk', async () => {
  const { running, ran, flush, apply, repository } = setup();
  await running();
  ran.length = 0;
  apply({ type: 'clock', clock: 'execute' });
  expect([repository.latest('tc_1')?.status, ran]).toEqual(['TIMEOUT', []]);
  await flush();
  expect(ran).toEqual(['stop']);
});

describe('a start that has not happened', () => {
  test('[CA14] of a tool that ran before is no first start', async () => {
    const { engine, apply, flushAll } = setup();
    engine.create(blank('tc_1', { annotations: READING }), ALLOWED, 'operator');
    await flushAll();
    apply({ type: 'recovered', shiftMs: 0 });
    expect(engine.hasUnsentStart('tc_1')).toBe(false);
  });
});

test('[CE2] who claimed waits for the offer to be on disk, and is told when it cannot be', async () => {
  const { engine, routeTo, apply, flush, disk } = setup();
  routeTo(offer());
  const claim = (id: string) => {
    engine.create({ ...atClient(), id }, ALLOWED, 'operator');
    apply({ type: 'claimed', from }, id);
    return engine.grantReady(id);
  };
  let isReady = false;
  const ready = claim('tc_1').then(() => {
    isReady = true;
  });
  await new Promise(setImmediate);
  expect(isReady).toBe(false);
  await flush();
  await ready;
  const lost = claim('tc_2');
  for (const { fail } of disk) fail(new StoreFailedError('the disk is gone'));
  await expect(lost).rejects.toThrow('the disk is gone');
});

test('[CE2] what waited for an event that was rejected does not happen with a later one', async () => {
  const { engine, ran, disk, flush, draft, apply } = setup();
  draft();
  await flush();
  apply(ALLOWED);
  disk.shift()?.fail(new TypeError('a value that cannot be written'));
  await new Promise(setImmediate);
  engine.status('tc_1', { tip: 'later' });
  await flush();
  expect(ran).toEqual([]);
});

test('[CE3] a yes and the offer that follows are one write of consecutive versions', () => {
  const { engine, routeTo, disk, apply } = setup();
  engine.create(atClient(), { type: 'arguments_complete', check: 'ask' }, 'run:1');
  routeTo(offer());
  apply({ type: 'approved' });
  const events = disk.map(({ changes }) =>
    changes.map((change) => change.type === 'append_call' && change.event),
  );
  expect(events).toMatchObject([
    [{ version: 1, type: 'created', actor: 'run:1' }],
    [
      { version: 2, type: 'approved', actor: 'operator' },
      { version: 3, type: 'offered', actor: 'server' },
    ],
  ]);
});

test('[CE3] [CE8] the record and the card of each version are the fold of the events up to it', () => {
  const { engine, routeTo, disk, apply } = setup();
  routeTo(offer());
  engine.create(atClient({ args: { a: 1 } }), ALLOWED, 'operator');
  apply({ type: 'claimed', from });
  engine.status('tc_1', { tip: 'one', progress: { done: 1 } });
  engine.status('tc_1', { tip: 'two', preview: 'half' });
  const fields = { result: { done: true }, display: 'Done', resultHash: 'h' };
  apply({ type: 'answered', from, error: null, fields });
  const appended = disk
    .flatMap(({ changes }) => changes)
    .flatMap((change) => (change.type === 'append_call' ? [change] : []));
  expect(appended.map(({ event }) => event.type)).toEqual([
    'created',
    'offered',
    'claimed',
    'status',
    'answered',
  ]);
  let folded = appended[0]?.call;
  for (const { call, event } of appended.slice(1)) {
    if (!folded) throw new Error('Cannot be');
    folded = foldEvent(folded, event).call;
    expect(folded).toEqual(call);
  }
});

test('[CE4] an event that another writer was before is void, and the newer state is read', async () => {
  const { engine, repository, running, apply, disk, written, published, ran } = setup();
  await running();
  ran.length = 0;
  const mine = repository.latest('tc_1');
  if (!mine) throw new Error('Cannot be');
  const other = changed(mine, { status: 'FAILED', phase: null, version: 9 });
  const applied = apply({ type: 'cancelled', reason: 'enough' });
  written.push(other);
  disk.shift()?.fail(new VersionConflictError('tc_1', mine.version + 1, 9));
  await new Promise(setImmediate);
  expect([published, ran]).toEqual([[], []]);
  expect(repository.latest('tc_1')).toBe(other);
  expect(apply({ type: 'cancelled', reason: 'enough' })).toMatchObject({
    refusal: 'already_final',
  });
  await expect(applied.ok && applied.written).rejects.toThrow('does not follow');
  expect(engine.hasUnsentStart('tc_1')).toBe(false);
});

describe('a grant whose event is void', () => {
  const voidGrant = async (hasLeft: boolean, newer: CallFields = {}) => {
    const made = setup();
    const { engine, routeTo, apply, disk, flush, written, repository } = made;
    routeTo(offer());
    engine.create(atClient(), ALLOWED, 'operator');
    await flush();
    const offered = repository.latest('tc_1');
    if (!offered) throw new Error('Cannot be');
    apply({ type: 'claimed', from });
    await engine.grantReady('tc_1');
    if (hasLeft) engine.grantLeaves('tc_1');
    written.push(changed(offered, { ...newer, version: 9 }));
    disk.shift()?.fail(new VersionConflictError('tc_1', offered.version + 1, 9));
    await new Promise(setImmediate);
    return made;
  };

  test('[CE4] has left: the call is granted in its newer state, too, and a cancel asks its client', async () => {
    const { repository, engine, disk } = await voidGrant(true);
    expect(repository.latest('tc_1')).toMatchObject({ phase: 'granted', granted: true });
    expect(disk[0]?.changes).toMatchObject([
      { event: { version: 10, type: 'claimed', actor: 'client:phone' } },
    ]);
    expect(engine.hasUnsentStart('tc_1')).toBe(false);
  });

  test('[CE4] has not left: it is void as any event', async () => {
    const { repository, disk } = await voidGrant(false);
    expect([repository.latest('tc_1')?.phase, disk]).toEqual(['offered', []]);
  });

  test('[CE4] has left, and the call has ended meanwhile: the end stays', async () => {
    const { repository, disk } = await voidGrant(true, { status: 'FAILED', phase: null });
    expect([repository.latest('tc_1')?.status, disk]).toEqual(['FAILED', []]);
  });
});

describe('a start whose event is void', () => {
  const OFFERED = { status: 'RUNNING', phase: 'offered', provider: phone, version: 2 } as const;
  const RECOVERED = { type: 'recovered', shiftMs: 0 } as const;
  const voidStart = async (newer: CallFields = {}) => {
    const made = setup();
    const { repository, apply, disk, written } = made;
    const found = changed(atClient(), OFFERED);
    repository.adopt(found);
    apply(RECOVERED);
    apply({ type: 'client_left' });
    written.push(changed(found, { ...newer, version: 9 }));
    const conflict = new VersionConflictError('tc_1', 3, 9);
    for (const { fail } of disk.splice(0)) fail(conflict);
    await new Promise(setImmediate);
    return made;
  };

  test('[CE4] [CE5] an offer is taken for granted in its newer state, too, once', async () => {
    const { repository, apply, disk } = await voidStart();
    expect(repository.latest('tc_1')).toMatchObject({ phase: 'offered', granted: true });
    expect(disk.map(({ changes }) => changes)).toMatchObject([
      [{ event: { version: 10, type: 'recovered' } }],
    ]);
    expect(apply({ type: 'clock', clock: 'queue' })).toMatchObject({ ok: false });
  });

  test('[CE4] what has ended meanwhile stays as it is', async () => {
    const { repository, disk } = await voidStart({ status: 'FAILED', phase: null });
    expect([repository.latest('tc_1')?.status, disk]).toEqual(['FAILED', []]);
  });

  test('[CE4] what is on disk of it is not decided again', async () => {
    const { repository, apply, disk, written, flush } = setup();
    repository.adopt(changed(atClient(), { ...OFFERED }));
    apply(RECOVERED);
    await flush();
    const taken = repository.latest('tc_1');
    if (!taken) throw new Error('Cannot be');
    apply({ type: 'cancelled', reason: 'enough' });
    written.push({ ...taken, version: 9 });
    disk.shift()?.fail(new VersionConflictError('tc_1', 4, 9));
    await new Promise(setImmediate);
    expect(disk).toEqual([]);
  });
});

test('[CE4] all that was decided on a void event is void, and what waits for the end still gets it', async () => {
  const { engine, repository, running, apply, disk, written, published, ran, decided } = setup();
  await running();
  ran.length = 0;
  const mine = repository.latest('tc_1');
  if (!mine) throw new Error('Cannot be');
  const waiting = repository.wait('tc_1', 30_000);
  const other = changed(mine, { status: 'FAILED', phase: null, version: 9 });
  apply({ type: 'extended', byMs: 1_000 });
  apply({ type: 'cancelled', reason: 'enough' });
  engine.status('tc_1', { tip: 'of a call that is no more' });
  written.push(other);
  const conflict = new VersionConflictError('tc_1', mine.version + 1, 9);
  for (const { fail } of disk.splice(0)) fail(conflict);
  await new Promise(setImmediate);
  expect([published, ran, disk]).toEqual([[], [], []]);
  expect([repository.latest('tc_1'), decided.at(-1)]).toEqual([other, other]);
  expect(await waiting).toBe(other);
});

test('[CE4] a wait for the end of a call whose newer state cannot be read ends with that error', async () => {
  const { repository, running, apply, disk, failReads } = setup();
  await running();
  let end: unknown;
  void repository.wait('tc_1', 30_000).catch((error: unknown) => {
    end = error;
  });
  apply({ type: 'cancelled', reason: 'enough' });
  const unreadable = new Error('unreadable');
  failReads(unreadable);
  disk.shift()?.fail(new VersionConflictError('tc_1', 3, 9));
  await new Promise(setImmediate);
  expect(end).toBe(unreadable);
});

test('[CE4] who waits for the end of a call that is open in its newer state goes on waiting', async () => {
  const { repository, running, apply, disk, written, flush } = setup();
  await running();
  const mine = repository.latest('tc_1');
  if (!mine) throw new Error('Cannot be');
  let end: string | undefined;
  void repository.wait('tc_1', 30_000).then((call) => {
    end = call?.status;
  });
  apply({ type: 'cancelled', reason: 'enough' });
  written.push({ ...mine, version: 9 });
  disk.shift()?.fail(new VersionConflictError('tc_1', mine.version + 1, 9));
  await new Promise(setImmediate);
  expect(end).toBeUndefined();
  apply({ type: 'finished_here', error: null });
  await flush();
  expect(end).toBe('SUCCEEDED');
});
