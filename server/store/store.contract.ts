import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Message, RunSummary } from '#lib/protocol/run';
import type { CallRecord } from './call-record.ts';
import { sampleCall } from './sample-call.ts';
import { BadCursorError, type Change, type Store, StoreFailedError } from './store.ts';

/** One place where a store keeps its data; opening it again is a restart. */
export interface StorePlace {
  open(): Store;
  /** Makes a write fail that puts the run of this id. */
  failOnRun(runId: string): void;
  remove(): Promise<void>;
}

const provider = {
  clientId: 'cl_1',
  instanceId: 'in_1',
  attempt: 2,
  claims: true,
  journalEpoch: 'e1',
};

const sampleRun = (given: Partial<RunSummary> = {}): RunSummary => ({
  run_id: 'run_1',
  title: 'A run',
  status: 'idle',
  model: 'rehearsal',
  tools: ['echo.text'],
  step: 0,
  max_steps: 10,
  error: null,
  created_at: 1_700_000_000.123,
  updated_at: 1_700_000_000.456,
  ...given,
});

const sampleMessage = (given: Partial<Message> = {}): Message => ({
  message_id: 'msg_1',
  run_id: 'run_1',
  role: 'user',
  parts: [{ type: 'text', text: 'hello' }],
  status: 'done',
  created_at: 1_700_000_000.5,
  ...given,
});

const putCall = (call: CallRecord): Change => ({ type: 'put_call', call });
const putRun = (run: RunSummary): Change => ({ type: 'put_run', run });
const putMessage = (message: Message, position: number): Change => ({
  type: 'put_message',
  message,
  position,
});
const final = (given: Partial<CallRecord>) =>
  sampleCall({ status: 'SUCCEEDED', phase: null, ...given });

/** What every `Store` keeps to. `makePlace` gives an empty one. */
export function describeStore(name: string, makePlace: () => StorePlace): void {
  describe(name, () => {
    const places: { place: StorePlace; stores: Store[] }[] = [];

    afterEach(async () => {
      for (const { place, stores } of places.splice(0)) {
        await Promise.all(stores.map((store) => store.close()));
        await place.remove();
      }
    });

    function setup() {
      const place = makePlace();
      const stores: Store[] = [];
      places.push({ place, stores });
      const open = (): Store => {
        const store = place.open();
        stores.push(store);
        return store;
      };
      const store = open();
      const reopen = async (): Promise<Store> => {
        await Promise.all(stores.map((one) => one.close()));
        return open();
      };
      return { store, reopen, failOnRun: place.failOnRun };
    }

    describeWrites(setup);
    describeCalls(setup);
    describeSearch(setup);
    describeRest(setup);
  });
}

type Setup = () => {
  store: Store;
  reopen(): Promise<Store>;
  failOnRun(runId: string): void;
};

function describeWrites(setup: Setup) {
  test('[ST2] the last of several writes stands, and they resolve in their order', async () => {
    const { store, reopen } = setup();
    const order: number[] = [];
    const writes = Array.from({ length: 50 }, (_, index) =>
      store
        .write([putRun(sampleRun({ step: index }))])
        .then(() => order.push(index))
        .then(() => undefined),
    );
    await Promise.all(writes);
    expect(order).toEqual(Array.from({ length: 50 }, (_, index) => index));
    expect((await (await reopen()).getRun('run_1'))?.step).toBe(49);
  });

  test('[ST2] the changes of one write take effect in their order', async () => {
    const { store } = setup();
    await store.write([
      putCall(sampleCall()),
      putCall(sampleCall({ status: 'RUNNING', phase: 'granted', provider, granted: true })),
    ]);
    expect((await store.getCall('tc_1'))?.status).toBe('RUNNING');
  });

  test('[ST3] [ST5] a write that fails leaves nothing behind, of its group either', async () => {
    const { store, reopen, failOnRun } = setup();
    await store.write([putCall(sampleCall({ id: 'tc_before' }))]);
    failOnRun('run_bad');
    const writes = [
      store.write([putCall(sampleCall({ id: 'tc_same_moment' }))]),
      store.write([
        putCall(sampleCall({ id: 'tc_same_write' })),
        putRun(sampleRun({ run_id: 'run_bad' })),
      ]),
    ];
    const outcomes = await Promise.allSettled(writes);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(StoreFailedError) });
    }
    const again = await reopen();
    expect((await again.openCalls()).map((call) => call.id)).toEqual(['tc_before']);
    expect(await again.getRun('run_bad')).toBeUndefined();
  });

  test('[ST5] after a failed write every write is refused, and reading goes on', async () => {
    const { store, failOnRun } = setup();
    await store.write([putCall(sampleCall())]);
    expect(store.failed).toBe(false);
    failOnRun('run_bad');
    await expect(store.write([putRun(sampleRun({ run_id: 'run_bad' }))])).rejects.toThrow(
      /could not be written/,
    );
    expect(store.failed).toBe(true);
    await expect(store.write([putRun(sampleRun())])).rejects.toBeInstanceOf(StoreFailedError);
    await expect(store.reserveSeqs(1)).rejects.toBeInstanceOf(StoreFailedError);
    expect((await store.getCall('tc_1'))?.id).toBe('tc_1');
    expect((await store.listCalls({ limit: 10, text: 'hi' })).calls).toEqual([]);
  });

  test('[ST6] a value that is no JSON rejects its own write alone', async () => {
    const { store } = setup();
    const bad = store.write([
      putCall(sampleCall({ id: 'tc_with' })),
      putCall(sampleCall({ id: 'tc_bad', args: { big: 1n } })),
    ]);
    const good = store.write([putCall(sampleCall({ id: 'tc_good' }))]);
    await expect(bad).rejects.toThrow(TypeError);
    await good;
    expect(store.failed).toBe(false);
    expect((await store.openCalls()).map((call) => call.id)).toEqual(['tc_good']);
    await store.write([putCall(sampleCall({ id: 'tc_with', phase: 'offered' }))]);
    expect((await store.getCall('tc_with'))?.phase).toBe('offered');
  });

  test('[ST7] closing writes what was asked for, and refuses what comes later', async () => {
    const { store, reopen } = setup();
    const asked = store.write([putCall(sampleCall())]);
    await Promise.all([store.close(), store.close()]);
    await asked;
    await expect(store.write([putRun(sampleRun())])).rejects.toBeInstanceOf(StoreFailedError);
    expect(await (await reopen()).getCall('tc_1')).toEqual(sampleCall());
  });
}

function describeCalls(setup: Setup) {
  const results: [string, unknown][] = [
    ['none yet', undefined],
    ['null', null],
    ['an empty text', ''],
    ['zero', 0],
    ['false', false],
    ['a text with NUL', 'a\u0000b'],
    ['half a character', 'a\ud800b'],
    ['an empty list', []],
    ['an object with a name of JavaScript', JSON.parse('{"__proto__":{"a":1},"constructor":2}')],
    ['a large text', 'ü'.repeat(300_000)],
  ];
  test.each(results)('[ST8] a result that is %s comes back', async (_, result) => {
    const { store, reopen } = setup();
    const calls = [
      final({ id: 'tc_1', result }),
      final({ id: 'tc_2', lateResult: result }),
      final({ id: 'tc_3', result, card: { params: {}, status: 'SUCCESS', result } }),
      final({ id: 'tc_4', result, card: { params: { text: 'hi' }, result: 'shown instead' } }),
    ];
    for (const call of calls) await store.write([putCall(call)]);
    const again = await reopen();
    for (const call of calls) {
      const read = await again.getCall(call.id);
      expect(read?.result).toStrictEqual(call.result);
      expect(read?.lateResult).toStrictEqual(call.lateResult);
      expect(read).toEqual(call);
      expect(Object.hasOwn(read?.card ?? {}, 'result')).toBe(call.card.result !== undefined);
    }
  });

  test('[ST8] any JSON in arguments, result and card comes back', async () => {
    const { store } = setup();
    let id = 0;
    const json = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));
    const object = fc
      .dictionary(fc.string(), json, { maxKeys: 4 })
      .map((value): Record<string, unknown> => JSON.parse(JSON.stringify(value)));
    await fc.assert(
      fc.asyncProperty(object, json, fc.boolean(), object, async (args, result, same, other) => {
        id += 1;
        const card = { params: same ? { ...args } : other, preview: result };
        const call = final({ id: `tc_${id}`, args, result, card });
        await store.write([putCall(call)]);
        expect(await store.getCall(call.id)).toEqual(call);
      }),
      { numRuns: 200 },
    );
  });

  test('[ST9] each state of a call replaces the one before, whatever changed', async () => {
    const { store, reopen } = setup();
    const queued = sampleCall();
    const running = sampleCall({
      args: queued.args,
      annotations: queued.annotations,
      status: 'RUNNING',
      phase: 'device',
      provider,
      granted: true,
      offeredAt: 1,
      startedAt: 2,
      executeLeftMs: 500,
      timeoutMs: 40_000,
      deadlines: { ...queued.deadlines, queue: null, execute: 5 },
      card: { status: 'DOING', params: { text: 'hi', more: 1 }, tip: 'working' },
    });
    const done: CallRecord = {
      ...running,
      args: { text: 'changed by the operator' },
      toolName: 'echo.other',
      runId: 'run_2',
      requestedBy: 'agent:a',
      retryOf: 'tc_0',
      wantedClientId: 'cl_1',
      annotations: { idempotentHint: true },
      createdAt: 5,
      source: 'server',
      status: 'FAILED',
      phase: null,
      provider: { ...provider, journalEpoch: null, claims: false },
      error: { code: 'tool_error', message: 'no', executed: 'yes', client_code: 'x' },
      attachments: [{ blob_id: 'blob_1', media_type: 'image/png', size: 3 }],
      resultHash: 'h',
      completedAt: 9,
      card: { status: 'ERROR', params: {} },
    };
    const late: CallRecord = { ...done, lateResult: null };
    for (const state of [queued, running, done, late]) {
      await store.write([putCall(state)]);
      expect(await store.getCall('tc_1')).toEqual(state);
    }
    expect(await (await reopen()).getCall('tc_1')).toEqual(late);
  });

  test('[ST9] a call that was open before a restart goes on', async () => {
    const { store, reopen } = setup();
    await store.write([putCall(sampleCall())]);
    const again = await reopen();
    const next: CallRecord = { ...sampleCall(), status: 'RUNNING', phase: 'offered', provider };
    await again.write([putCall(next)]);
    expect(await again.getCall('tc_1')).toEqual(next);
    expect(await again.getCall('tc_none')).toBeUndefined();
  });

  test('[ST10] pages hold each call once, newest first, while newer ones are written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 25 }),
        fc.integer({ min: 1, max: 7 }),
        async (times, limit) => {
          const { store } = setup();
          const calls = times.map((createdAt, index) =>
            sampleCall({ id: `tc_${index}`, createdAt }),
          );
          await store.write(calls.map(putCall));
          const seen: CallRecord[] = [];
          let cursor: string | undefined;
          for (let page = 0; page <= calls.length; page += 1) {
            const got = await store.listCalls({ limit, ...(cursor !== undefined && { cursor }) });
            expect(got.calls.length).toBeLessThanOrEqual(limit);
            seen.push(...got.calls);
            if (got.nextCursor === null) break;
            cursor = got.nextCursor;
            await store.write([putCall(sampleCall({ id: `tc_new_${page}`, createdAt: 6 + page }))]);
          }
          const newestFirst = calls.toSorted(
            (a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1),
          );
          expect(seen).toEqual(newestFirst);
        },
      ),
      { numRuns: 30 },
    );
  });

  const otherJson = Buffer.from('{"a":1}').toString('base64url');
  const threeValues = Buffer.from('[1,"a",2]').toString('base64url');
  test.each(['', 'x', otherJson, threeValues])('[ST11] %j is no cursor', async (cursor) => {
    const { store } = setup();
    await expect(store.listCalls({ limit: 1, cursor })).rejects.toBeInstanceOf(BadCursorError);
    await expect(store.listRuns({ limit: 1, cursor })).rejects.toBeInstanceOf(BadCursorError);
  });

  test('[ST12] filters narrow each other down', async () => {
    const { store } = setup();
    await store.write(
      [
        sampleCall({ id: 'tc_1', runId: 'run_1', wantedClientId: 'cl_1', createdAt: 1 }),
        sampleCall({ id: 'tc_2', runId: 'run_2', wantedClientId: 'cl_2', provider, createdAt: 2 }),
        final({ id: 'tc_3', runId: 'run_1', provider, createdAt: 3 }),
        final({ id: 'tc_4', runId: 'run_1', toolName: 'other', createdAt: 4 }),
      ].map(putCall),
    );
    const ids = async (query: Omit<Parameters<Store['listCalls']>[0], 'limit'>) =>
      (await store.listCalls({ limit: 10, ...query })).calls.map((call) => call.id);
    expect(await ids({})).toEqual(['tc_4', 'tc_3', 'tc_2', 'tc_1']);
    expect(await ids({ runId: 'run_1' })).toEqual(['tc_4', 'tc_3', 'tc_1']);
    expect(await ids({ status: 'SUCCEEDED' })).toEqual(['tc_4', 'tc_3']);
    expect(await ids({ tool: 'other' })).toEqual(['tc_4']);
    expect(await ids({ clientId: 'cl_1' })).toEqual(['tc_3', 'tc_2', 'tc_1']);
    expect(await ids({ clientId: 'cl_2' })).toEqual([]);
    expect(await ids({ runId: 'run_1', status: 'SUCCEEDED', clientId: 'cl_1' })).toEqual(['tc_3']);
    expect(await ids({ tool: "other' or 1=1 --" })).toEqual([]);
  });

  test('[ST14] open calls are those that are not final, oldest first', async () => {
    const { store, reopen } = setup();
    await store.write(
      [
        sampleCall({ id: 'tc_3', createdAt: 3 }),
        sampleCall({ id: 'tc_1', createdAt: 1, status: 'RUNNING', phase: 'offered', provider }),
        final({ id: 'tc_2', createdAt: 2 }),
        final({ id: 'tc_4', status: 'FAILED' }),
        final({ id: 'tc_5', status: 'TIMEOUT' }),
      ].map(putCall),
    );
    expect((await (await reopen()).openCalls()).map((call) => call.id)).toEqual(['tc_1', 'tc_3']);
  });
}

function describeSearch(setup: Setup) {
  const found: [string, string, Partial<CallRecord>][] = [
    ['an argument', 'berlin', { args: { city: 'Berlin' } }],
    ['the beginning of a word', 'berl', { args: { city: 'Berlin' } }],
    ['a name of an argument', 'city', { args: { city: 'Berlin' } }],
    ['a result', 'sunny', { result: { list: [{ sky: 'sunny' }] } }],
    ['a late result', 'sunny', { lateResult: 'sunny' }],
    ['an error', 'refused', { error: { code: 'denied', message: 'it refused', executed: 'no' } }],
    ['a tool', 'weather', { toolName: 'weather.query' }],
    ['a word after a line break', 'second', { result: 'first\nsecond' }],
    ['a number', '42', { result: 42 }],
    ['words of several places', 'berlin SUNNY', { args: { c: 'Berlin' }, result: 'sunny' }],
    ['a part of a Chinese sentence', '天气', { result: '今天天气很好' }],
    ['a name with marks', 'image_url', { args: { image_url: 'x' } }],
    ['letters with accents', 'munchen', { args: { city: 'München' } }],
  ];
  test.each(found)('[ST13] a search finds %s', async (_, text, given) => {
    const { store } = setup();
    await store.write([
      putCall(final({ id: 'tc_hit', toolName: 'tool', args: {}, ...given })),
      putCall(final({ id: 'tc_other', toolName: 'tool', args: { text: '别的 nothing' } })),
    ]);
    const { calls } = await store.listCalls({ limit: 10, text });
    expect(calls.map((call) => call.id)).toEqual(['tc_hit']);
  });

  test('[ST13] all words must be there, and other filters hold', async () => {
    const { store } = setup();
    await store.write([
      putCall(final({ id: 'tc_1', args: { a: 'red house' } })),
      putCall(final({ id: 'tc_2', runId: 'run_2', args: { a: 'red car' } })),
    ]);
    const ids = async (text: string, runId?: string) =>
      (await store.listCalls({ limit: 10, text, ...(runId && { runId }) })).calls.map((c) => c.id);
    expect(await ids('red')).toEqual(['tc_2', 'tc_1']);
    expect(await ids('red house')).toEqual(['tc_1']);
    expect(await ids('house car')).toEqual([]);
    expect(await ids('red', 'run_2')).toEqual(['tc_2']);
    expect(await ids('   ')).toEqual(['tc_2', 'tc_1']);
  });

  test('[ST13] no text is query syntax, and none is an error', async () => {
    const { store } = setup();
    await store.write([putCall(final({ args: { a: 'red house' } }))]);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        await store.listCalls({ limit: 1, text });
      }),
    );
    for (const text of ['red NOT house', 'red OR green', 'args:red', 'NEAR(red)']) {
      expect((await store.listCalls({ limit: 1, text })).calls).toEqual([]);
    }
    expect((await store.listCalls({ limit: 1, text: 'red\u0000car' })).calls).toEqual([]);
    for (const text of ['*red*', '"red', 'red -', '(house)']) {
      expect((await store.listCalls({ limit: 1, text })).calls).toHaveLength(1);
    }
  });

  test('[ST13] a call is found by its latest words, after a restart too', async () => {
    const { store, reopen } = setup();
    const call = final({ result: 'early' });
    await store.write([putCall(call)]);
    expect((await store.listCalls({ limit: 1, text: 'early' })).calls).toHaveLength(1);
    await store.write([putCall({ ...call, lateResult: 'tardy' })]);
    const again = await reopen();
    expect((await again.listCalls({ limit: 1, text: 'tardy' })).calls).toHaveLength(1);
    expect((await again.listCalls({ limit: 1, text: 'early' })).calls).toHaveLength(1);
  });
}

function describeRest(setup: Setup) {
  test('[ST16] the first call of an idempotency key stays', async () => {
    const { store, reopen } = setup();
    const entry = { scope: 'operator\nkey', fingerprint: 'f', callId: 'tc_1' };
    await store.write([{ type: 'put_idempotency', entry }]);
    await store.write([{ type: 'put_idempotency', entry: { ...entry, callId: 'tc_2' } }]);
    const again = await reopen();
    expect(await again.getIdempotency(entry.scope)).toEqual(entry);
    expect(await again.getIdempotency('other\nkey')).toBeUndefined();
  });

  test('[ST17] runs come newest first by their last change, page by page', async () => {
    const { store } = setup();
    await store.write(
      [3, 1, 2, 2].map((at, index) =>
        putRun(sampleRun({ run_id: `run_${index}`, updated_at: at })),
      ),
    );
    const failed = sampleRun({
      run_id: 'run_1',
      status: 'failed',
      model: null,
      tools: null,
      error: { code: 'x', message: 'y' },
      updated_at: 4.001,
    });
    await store.write([putRun(failed)]);
    expect(await store.getRun('run_1')).toEqual(failed);
    expect(await store.getRun('run_x')).toBeUndefined();
    const first = await store.listRuns({ limit: 3 });
    expect(first.runs.map((run) => run.run_id)).toEqual(['run_1', 'run_0', 'run_3']);
    const second = await store.listRuns({ limit: 3, cursor: first.nextCursor ?? '' });
    expect(second.runs.map((run) => run.run_id)).toEqual(['run_2']);
    expect(second.nextCursor).toBeNull();
  });

  test('[ST18] messages are in the order of their positions, and are replaced by id', async () => {
    const { store, reopen } = setup();
    const streaming = sampleMessage({
      message_id: 'msg_b',
      role: 'assistant',
      status: 'streaming',
    });
    const done: Message = {
      ...streaming,
      status: 'done',
      parts: [
        { type: 'reasoning', text: 'r' },
        { type: 'tool_call', tool_call_id: 'tc_1' },
      ],
    };
    await store.write([putMessage(streaming, 1), putMessage(sampleMessage(), 0)]);
    await store.write([putMessage(sampleMessage({ message_id: 'm', run_id: 'run_2' }), 0)]);
    await store.write([putMessage(done, 1)]);
    expect(await (await reopen()).getMessages('run_1')).toEqual([sampleMessage(), done]);
  });

  test('[ST19] a client is found by its id and token, each instance by its own', async () => {
    const { store, reopen } = setup();
    const client = {
      clientId: 'cl_1',
      instanceId: 'in_1',
      journalEpoch: null,
      name: 'Phone',
      kind: 'phone' as const,
      resumeTokenHash: 'h1',
      lastSeenAt: 1,
    };
    const other = { ...client, instanceId: 'in_2', resumeTokenHash: 'h2', journalEpoch: 'e' };
    await store.write([
      { type: 'put_client', client: { ...client, resumeTokenHash: 'h0' } },
      { type: 'put_client', client },
      { type: 'put_client', client: other },
    ]);
    const again = await reopen();
    expect(await again.findClient('cl_1', 'h1')).toEqual(client);
    expect(await again.findClient('cl_1', 'h2')).toEqual(other);
    expect(await again.findClient('cl_1', 'h0')).toBeUndefined();
    expect(await again.findClient('cl_2', 'h1')).toBeUndefined();
  });

  test('[ST20] a session is there until it is deleted', async () => {
    const { store, reopen } = setup();
    const session = { idHash: 's', createdAt: 1, expiresAt: 2 };
    await store.write([{ type: 'put_session', session }]);
    const again = await reopen();
    expect(await again.getSession('s')).toEqual(session);
    await again.write([{ type: 'delete_session', idHash: 's' }]);
    expect(await again.getSession('s')).toBeUndefined();
  });

  test('[ST21] reserved numbers rise, over restarts too', async () => {
    const { store, reopen } = setup();
    expect(await store.reserveSeqs(10)).toBe(1);
    expect(await store.reserveSeqs(5)).toBe(11);
    const again = await reopen();
    expect(await Promise.all([again.reserveSeqs(2), again.reserveSeqs(2)])).toEqual([16, 18]);
  });
}
