import { afterEach, describe, expect, test } from 'vitest';
import { sampleCall } from '#lib/call/testing/sample-call';
import type { Store } from './sqlite-store.ts';
import type { Change } from './store.ts';
import { describeAccess } from './store-access.contract.ts';
import { describeCalls } from './store-calls.contract.ts';
import { describeDeliveries } from './store-deliveries.contract.ts';
import { StoreFailedError } from './store-errors.ts';
import { describeEvents } from './store-events.contract.ts';
import { describeMemories } from './store-memories.contract.ts';
import { describeMessages } from './store-messages.contract.ts';
import { describeModelTurns } from './store-model-turns.contract.ts';
import { describeSearch } from './store-search.contract.ts';
import { appendCall, putRun, type Setup, sampleRun } from './testing/store-setup.ts';

/** One place where a store keeps its data; opening it again is a restart. */
export interface StorePlace {
  open(): Store;
  /** Makes a write fail that puts the run of this id. */
  failOnRun(runId: string): void;
  remove(): Promise<void>;
}

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
    describeEvents(setup);
    describeSearch(setup);
    describeMessages(setup);
    describeModelTurns(setup);
    describeMemories(setup);
    describeDeliveries(setup);
    describeRest(setup);
    describeAccess(setup);
  });
}

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

  test('[ST3] [ST5] a write that fails leaves nothing behind, of its group either', async () => {
    const { store, reopen, failOnRun } = setup();
    await store.write([appendCall(sampleCall({ id: 'tc_before' }))]);
    failOnRun('run_bad');
    const writes = [
      store.write([appendCall(sampleCall({ id: 'tc_same_moment' }))]),
      store.write([
        appendCall(sampleCall({ id: 'tc_same_write' })),
        putRun(sampleRun({ run_id: 'run_bad' })),
      ]),
    ];
    const outcomes = await Promise.allSettled(writes);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(StoreFailedError) });
    }
    expect((await store.openCalls()).map((call) => call.id)).toEqual(['tc_before']);
    const again = await reopen();
    expect((await again.openCalls()).map((call) => call.id)).toEqual(['tc_before']);
    expect(await again.getRun('run_bad')).toBeUndefined();
  });

  test('[ST5] after a failed write every write is refused, and reading goes on', async () => {
    const { store, failOnRun } = setup();
    await store.write([appendCall(sampleCall())]);
    expect(store.failed).toBe(false);
    failOnRun('run_bad');
    await expect(store.write([putRun(sampleRun({ run_id: 'run_bad' }))])).rejects.toThrow(
      /could not be written/,
    );
    expect(store.failed).toBe(true);
    await expect(store.write([putRun(sampleRun())])).rejects.toBeInstanceOf(StoreFailedError);
    await expect(store.reserveSeqs(1)).rejects.toBeInstanceOf(StoreFailedError);
    expect((await store.getCall('tc_1'))?.id).toBe('tc_1');
  });

  test('[ST6] a value that is no JSON rejects its own write alone', async () => {
    const { store } = setup();
    const bad = store.write([
      appendCall(sampleCall({ id: 'tc_with' })),
      appendCall(sampleCall({ id: 'tc_bad', args: { big: 1n } })),
    ]);
    const good = store.write([appendCall(sampleCall({ id: 'tc_good' }))]);
    await expect(bad).rejects.toThrow(TypeError);
    await good;
    expect(store.failed).toBe(false);
    expect((await store.openCalls()).map((call) => call.id)).toEqual(['tc_good']);
    await store.write([appendCall(sampleCall({ id: 'tc_with', phase: 'offered' }))]);
    expect((await store.getCall('tc_with'))?.phase).toBe('offered');
  });

  test('[ST7] closing writes what was asked for, and refuses what comes later', async () => {
    const { store, reopen } = setup();
    const asked = store.write([appendCall(sampleCall())]);
    await Promise.all([store.close(), store.close()]);
    await asked;
    await expect(store.write([putRun(sampleRun())])).rejects.toBeInstanceOf(StoreFailedError);
    expect(await (await reopen()).getCall('tc_1')).toEqual(sampleCall());
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

  test('[DE11] a run of a sub-agent is kept with its parent, and is in no list', async () => {
    const { store, reopen } = setup();
    const parent = { run_id: 'run_1', call_id: 'tc_1', agent: 'helper', depth: 1 };
    const child = sampleRun({ run_id: 'run_2', parent, pinned_tools: ['mail.send'] });
    await store.write([putRun(sampleRun({ run_id: 'run_1' })), putRun(child)]);
    const again = await reopen();
    expect(await again.getRun('run_2')).toEqual(child);
    expect((await again.listRuns({ limit: 9 })).runs.map((run) => run.run_id)).toEqual(['run_1']);
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
      owner: 'tok_1',
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
    expect([await again.clientOwner('cl_1'), await again.clientOwner('cl_2')]).toEqual([
      client.owner,
      undefined,
    ]);
  });

  test('[ST41] of an owner the 10,000 seen last are remembered: it pushes out nothing of another’s, and a chosen id stays its owner’s', async () => {
    const { store } = setup();
    const put = (clientId: string, instanceId: string, owner: string, at: number): Change => ({
      type: 'put_client',
      client: {
        ...{ clientId, instanceId, owner, journalEpoch: null, name: 'Tab', kind: 'tab' },
        ...{ resumeTokenHash: `h ${instanceId}`, lastSeenAt: at },
      },
    });
    const madeHere = `client_${'0'.repeat(32)}`;
    await store.write([
      put('cl_olga', 'in_1', 'tok_olga', 1),
      put('cl_own', 'in_1', 'device:x', 2),
      put(madeHere, 'in_1', 'device:x', 3),
    ]);
    const hellos = Array.from({ length: 13_000 }, (_, at) =>
      put('cl_x', `in_${at}`, 'device:x', 10 + at),
    );
    await store.write(hellos);
    expect(await store.findClient('cl_olga', 'h in_1')).toBeDefined();
    expect(await store.findClient('cl_x', 'h in_0')).toBeUndefined();
    expect(await store.findClient('cl_x', 'h in_3000')).toBeDefined();
    expect(await store.clientOwner('cl_own')).toBe('device:x');
    // Nobody can choose it.
    expect(await store.clientOwner(madeHere)).toBeUndefined();
  });

  test('[ST20] a session is there until it is deleted', async () => {
    const { store, reopen } = setup();
    const session = { idHash: 's:k', createdAt: 1, expiresAt: 2, tokenId: null };
    const others = ['s', 'sa:k', 's;k', 'S:k', ':k'].map((idHash) => ({ ...session, idHash }));
    await store.write(
      [session, ...others].map((one) => ({ type: 'put_session', session: one }) as const),
    );
    const again = await reopen();
    expect(await again.findSession('s')).toEqual(session);
    expect(await again.findSession('k')).toBeUndefined();
    await again.write([{ type: 'delete_session', idHash: 's:k' }]);
    expect(await again.findSession('s')).toBeUndefined();
  });

  test('[ST20] a session is renewed while it is there, and does not come back by it', async () => {
    const { store, reopen } = setup();
    const session = { idHash: 's:k', createdAt: 1, expiresAt: 2, tokenId: null };
    const renewed = { ...session, expiresAt: 7 };
    await store.write([{ type: 'put_session', session }]);
    await store.write([{ type: 'renew_session', session: renewed }]);
    const again = await reopen();
    expect(await again.findSession('s')).toEqual(renewed);
    await again.write([
      { type: 'delete_session', idHash: 's:k' },
      { type: 'renew_session', session: renewed },
    ]);
    expect(await again.findSession('s')).toBeUndefined();
  });

  test('[ST70] what is kept of an area comes back in its order, until it is deleted', async () => {
    const { store, reopen } = setup();
    const entry = (key: string, putAt: number, value: unknown = { of: key }) =>
      ({ area: 'always', key, value, putAt }) as const;
    const [late, early] = [entry('a', 2), entry('b', 1)];
    const elsewhere = { ...late, area: 'breaker' } as const;
    await store.write(
      [late, early, entry('c', 3), elsewhere].map((one) => ({ type: 'put_kept', entry: one })),
    );
    await store.write([
      { type: 'put_kept', entry: entry('a', 4, null) },
      { type: 'delete_kept', area: 'always', key: 'c' },
    ]);
    const again = await reopen();
    expect(await again.listKept('always')).toEqual([early, entry('a', 4, null)]);
    expect(await again.listKept('breaker')).toEqual([elsewhere]);
  });

  test('[ST21] reserved numbers rise, over restarts too', async () => {
    const { store, reopen } = setup();
    expect(await store.reserveSeqs(10)).toBe(1);
    expect(await store.reserveSeqs(5)).toBe(11);
    const again = await reopen();
    expect(await Promise.all([again.reserveSeqs(2), again.reserveSeqs(2)])).toEqual([16, 18]);
  });
}
