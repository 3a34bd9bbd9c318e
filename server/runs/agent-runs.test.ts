import { describe, expect, test, vi } from 'vitest';
import type { TurnEnd } from './agent/agent.ts';
import { createTestStore, type TestStore } from './agent/testing/fakes.ts';
import { answering, oldRun, principal, setupRuns, untilStopped } from './testing/setup-runs.ts';

describe('deleting', () => {
  const deleting = (store: TestStore, runId: string) => () =>
    store.write([{ type: 'delete_run', runId, changedBefore: Number.MAX_SAFE_INTEGER }]);

  test('[RU30] a run that is not in use is deleted; who asks meanwhile waits, and finds it gone', async () => {
    const { runs, claim, store, start, ended } = setupRuns();
    const { run_id: runId } = await start();
    await ended(runId);
    expect(await runs.get(runId)).toBeDefined(); // It lies in memory.
    const { promise: deleted, resolve: goOn } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const done = runs.deleteUnused(runId, async () => {
      begun.resolve();
      await deleted;
      await deleting(store, runId)();
    });
    await begun.promise;
    const asked = runs.get(runId);
    const called = claim(runId, 'Called again');
    goOn();
    expect(await done).toBe(true);
    expect(await asked).toBeUndefined();
    await called;
    expect(await runs.get(runId)).toMatchObject({ title: 'Called again', messages: [] });
  });

  test('[RU30] a run that has a turn, or was just called in, is not', async () => {
    const { runs, claim, store, clock, start } = setupRuns({ turn: untilStopped });
    const { run_id: runId } = await start();
    expect(await runs.deleteUnused(runId, deleting(store, runId))).toBe(false);
    await claim('run_of_agent', 'Agent');
    expect(await runs.deleteUnused('run_of_agent', deleting(store, 'run_of_agent'))).toBe(false);
    clock.advance(60_000);
    await claim('run_of_agent', 'Agent');
    expect(await runs.deleteUnused('run_of_agent', deleting(store, 'run_of_agent'))).toBe(false);
    clock.advance(60_000);
    expect(await runs.deleteUnused('run_of_agent', deleting(store, 'run_of_agent'))).toBe(true);
    expect(await runs.get('run_of_agent')).toBeUndefined();
    expect(await runs.get(runId)).toBeDefined();
  });
});

describe('starting', () => {
  test('[RU1] run and message are on disk before the agent is asked, and told after that', async () => {
    const { runs, store, bus, turns } = setupRuns({
      turn: async () => {
        expect(store.writes).toHaveLength(1);
        return { status: 'idle' };
      },
    });
    const outcome = await runs.start({ principal, input: 'Hello', tools: ['a.b'] });
    expect(outcome).toMatchObject({
      ok: true,
      run: {
        status: 'running',
        model: 'rehearsal',
        tools: ['a.b'],
        title: 'Hello',
        messages: [{ role: 'user', status: 'done', parts: [{ type: 'text', text: 'Hello' }] }],
      },
    });
    expect(store.writes[0]?.map(({ type }) => type)).toEqual(['put_run', 'put_message']);
    expect(bus.events.slice(0, 2).map(({ type }) => type)).toEqual(['run', 'message']);
    await bus.until((event) => event.type === 'run' && event.run.status === 'idle');
    expect(turns[0]).toMatchObject({ tools: ['a.b'], model: { ref: 'rehearsal' } });
  });

  test('[RU1] nothing is told when it cannot be written', async () => {
    const { runs, store, bus, turns } = setupRuns();
    store.fail();
    expect(await runs.start({ principal, input: 'Hello' })).toMatchObject({
      ok: false,
      code: 'store_failed',
    });
    expect(bus.events).toEqual([]);
    expect(turns).toEqual([]);
  });

  test.each([
    ['short', 'short'],
    ['  two\n\nlines\t', 'two lines'],
    ['x'.repeat(60), 'x'.repeat(60)],
    ['x'.repeat(61), `${'x'.repeat(59)}…`],
    [`${'😀'.repeat(70)}`, `${'😀'.repeat(59)}…`],
    ['\u202Eevas\u200B me', 'evas me'],
  ])('[RU2] %j is called by its first words', async (input, title) => {
    expect((await setupRuns().start(input)).title).toBe(title);
  });

  test.each(['', ' \n', '\u200B\u202E', 'x'.repeat(256 * 1024 + 1)])(
    '[RU14] an input that makes no sense is refused',
    async (input) => {
      expect(await setupRuns().runs.start({ principal, input })).toMatchObject({
        ok: false,
        code: 'bad_request',
      });
    },
  );

  test('[RU14] a model that is not there is refused with the list', async () => {
    const outcome = await setupRuns().runs.start({ principal, input: 'x', model: 'gpt-x' });
    expect(outcome).toMatchObject({
      ok: false,
      code: 'bad_request',
      message: expect.stringContaining('rehearsal'),
    });
  });

  test('[RU14] a run that is not there', async () => {
    const { runs } = setupRuns();
    expect(await runs.send('run_x', { input: 'x' })).toMatchObject({
      code: 'run_not_found',
    });
    expect(await runs.cancel('run_x')).toMatchObject({ code: 'run_not_found' });
    expect(await runs.get('run_x')).toBeUndefined();
    expect(await runs.watched('run_x')).toEqual([]);
  });
});

test('[RU18] after more runs than memory keeps, each is found and a further one starts', async () => {
  const { runs, start, ended } = setupRuns({ turn: answering(['Hello']) });
  const ids: string[] = [];
  for (let n = 0; n < 70; n += 1) {
    const { run_id } = await start();
    await ended(run_id);
    ids.push(run_id);
  }
  for (const id of ids) expect((await runs.get(id))?.run_id).toBe(id);
  expect(await runs.watched()).toHaveLength(20);
});

describe('turns', () => {
  test('[RU3] two messages at once begin one turn, and both are in the run', async () => {
    const { runs, turns, start } = setupRuns({ turn: untilStopped });
    const run = await start();
    await runs.cancel(run.run_id);
    const both = await Promise.all(['a', 'b'].map((input) => runs.send(run.run_id, { input })));
    expect(both.map(({ ok }) => ok)).toEqual([true, true]);
    expect(turns).toHaveLength(2);
    const messages = (await runs.get(run.run_id))?.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual(['user', 'user', 'user']);
  });

  test('[RU18] a run that is looked up while it begins is the one whose turn goes on', async () => {
    const store = createTestStore();
    const begun = Promise.withResolvers<void>();
    let lookedUp: Promise<unknown> | undefined;
    const { runs, start, ended } = setupRuns({
      turn: answering(['Hello yourself']),
      store: {
        ...store,
        async write(changes) {
          await store.write(changes);
          // On disk, and its writer has no answer yet.
          const [first] = changes;
          if (first?.type === 'put_run') lookedUp ??= runs.get(first.run.run_id);
        },
        async listMessages(query) {
          const page = await store.listMessages(query);
          await begun.promise;
          return page;
        },
      },
    });
    const run = await start();
    begun.resolve();
    expect(await lookedUp).toMatchObject({ run_id: run.run_id });
    await ended(run.run_id);
    expect(await runs.get(run.run_id)).toMatchObject({
      status: 'idle',
      messages: [{ role: 'user' }, { role: 'assistant', status: 'done' }],
    });
  });

  test('[RU4] a cancelled turn ends as cancelled, on disk and told', async () => {
    const { runs, start, store, bus } = setupRuns({ turn: untilStopped });
    const run = await start();
    expect(await runs.cancel(run.run_id)).toMatchObject({
      ok: true,
      run: { status: 'cancelled', step: 0 },
    });
    expect(await store.getRun(run.run_id)).toMatchObject({ status: 'cancelled' });
    expect(bus.events.at(-1)).toMatchObject({ type: 'run', run: { status: 'cancelled' } });
  });

  test('[RU4] a run that is idle stays as it is', async () => {
    const { runs, start, ended, store } = setupRuns();
    const run = await start();
    await ended(run.run_id);
    const writes = store.writes.length;
    expect(await runs.cancel(run.run_id)).toMatchObject({ ok: true, run: { status: 'idle' } });
    expect(store.writes).toHaveLength(writes);
  });

  test('[RU5] a failed turn keeps its error until the next message, which goes on', async () => {
    const error = { code: 'x', message: 'no' };
    const ends: TurnEnd[] = [{ status: 'failed', error }, { status: 'idle' }];
    const { runs, start, ended, bus } = setupRuns({
      turn: async () => ends.shift() ?? { status: 'idle' },
    });
    const run = await start();
    await ended(run.run_id);
    expect(await runs.get(run.run_id)).toMatchObject({ status: 'failed', error });
    const next = await runs.send(run.run_id, { input: 'again' });
    expect(next).toMatchObject({ ok: true, run: { status: 'running', error: null } });
    await bus.until((event) => event.type === 'run' && event.run.status === 'idle');
    expect((await runs.get(run.run_id))?.messages).toHaveLength(2);
  });

  test('[RU5] who hears that a turn ended can send at once', async () => {
    const { runs, start, bus } = setupRuns();
    const outcome = bus
      .until((event) => event.type === 'run' && event.run.status === 'idle')
      .then((event) =>
        event.type === 'run' ? runs.send(event.run.run_id, { input: 'next' }) : undefined,
      );
    await start();
    expect(await outcome).toMatchObject({ ok: true });
  });

  test('[RU5] a run goes on after a restart', async () => {
    const before = setupRuns({ turn: answering(['Hello you']) });
    const run = await before.start();
    await before.ended(run.run_id);
    const { runs, turns, ended } = setupRuns({ store: before.store });
    expect(await runs.send(run.run_id, { input: 'more' })).toMatchObject({ ok: true });
    await ended(run.run_id);
    expect(turns[0]?.transcript.messages().map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
  });

  test('[RU15] a turn whose agent breaks ends as failed', async () => {
    const { start, ended, runs, defects } = setupRuns({
      turn: () => Promise.reject(new Error('broken')),
    });
    const run = await start();
    await ended(run.run_id);
    expect(await runs.get(run.run_id)).toMatchObject({
      status: 'failed',
      error: { code: 'internal' },
    });
    expect(defects).toHaveLength(1);
  });

  test('[RU15] a turn whose store breaks ends as failed, and is told', async () => {
    const store = createTestStore();
    const { start, ended, runs } = setupRuns({
      store,
      turn: async (request) => {
        store.fail();
        return answering(['x'])(request);
      },
    });
    const run = await start();
    await ended(run.run_id);
    expect(await runs.get(run.run_id)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('the disk is gone') },
    });
  });
});

describe('runs of outside agents', () => {
  test('[RU9] it is made once, told once, and then known', async () => {
    const { runs, claim, store, bus } = setupRuns();
    await Promise.all([1, 2, 3].map(() => claim('run_out', 'An   agent')));
    await claim('run_out', 'other');
    expect(store.writes).toHaveLength(1);
    expect(bus.events).toHaveLength(1);
    expect(await runs.get('run_out')).toMatchObject({
      title: 'An agent',
      status: 'idle',
      model: null,
      messages: [],
    });
  });

  test('[RU9] one that is on disk is not made again, nor one of our own', async () => {
    const { claim, store, start } = setupRuns();
    await store.write([{ type: 'put_run', run: oldRun() }]);
    const own = await start();
    const writes = store.writes.length;
    await claim('run_old', 'x');
    await claim(own.run_id, 'x');
    expect(
      store.writes
        .slice(writes)
        .flat()
        .filter((change) => change.type === 'put_run' && change.run.title === 'x'),
    ).toEqual([]);
  });

  test('[RU9] one whose first call was refused is not there, and belongs to who asked first', async () => {
    const { runs, known, store, bus } = setupRuns();
    const first = await known.claim('run_out', 'An agent', principal);
    expect([store.writes, bus.events, await runs.get('run_out')]).toEqual([[], [], undefined]);
    const next = await known.claim('run_out', 'An agent', principal);
    await Promise.all([first.write(), next.write()]);
    expect([store.writes.length, bus.events.length]).toEqual([1, 1]);
    expect(await runs.get('run_out')).toMatchObject({ title: 'An agent' });
  });

  test('[RU9] one that could not be written is tried again', async () => {
    const { runs, claim, store } = setupRuns();
    store.fail();
    await expect(claim('run_out', 'x')).rejects.toThrow('the disk is gone');
    expect(await runs.get('run_out')).toBeUndefined();
  });

  test('[RU5] a person can go on in it, with the default model', async () => {
    const { runs, claim } = setupRuns();
    await claim('run_out', 'An agent');
    expect(await runs.send('run_out', { input: 'hi' })).toMatchObject({
      ok: true,
      run: { model: 'rehearsal' },
    });
  });
});

describe('stopping the server', () => {
  test('[RU13] turns are told why, and no new one is taken', async () => {
    const reasons: unknown[] = [];
    const { runs, start } = setupRuns({
      turn: (request) => {
        request.signal.addEventListener('abort', () => reasons.push(request.signal.reason));
        return untilStopped(request);
      },
    });
    const run = await start();
    await runs.close();
    expect(reasons).toEqual(['shutting_down']);
    expect(await runs.send(run.run_id, { input: 'x' })).toMatchObject({
      code: 'shutting_down',
    });
    expect(await runs.start({ principal, input: 'x' })).toMatchObject({ code: 'shutting_down' });
  });

  test('[RU13] a turn that is just being started is ended too', async () => {
    const { runs, turns, store } = setupRuns({ turn: untilStopped });
    const starting = runs.start({ principal, input: 'x' });
    const closed = runs.close();
    await starting;
    await closed;
    expect(turns.every(({ signal }) => signal.aborted)).toBe(true);
    expect((await store.listRuns({ limit: 1 })).runs).toMatchObject([{ status: 'running' }]);
  });
});

test('[OB3] what the end of a turn announces is in the write of its status, and only once', async () => {
  const written: string[] = [];
  const { start, ended, store } = setupRuns({
    turn: answering(['Hello']),
    announce(run, previous) {
      if (previous.status !== 'running' || run.status === 'running') return undefined;
      return {
        changes: [{ type: 'delete_token', id: `announced ${run.status}` }],
        written: () => void written.push(run.status),
      };
    },
  });
  const write = vi.spyOn(store, 'write');
  const { run_id } = await start('Hi');
  await ended(run_id);
  const together = write.mock.calls
    .map(([changes]) => changes.map((change) => change.type))
    .filter((types) => types.includes('delete_token'));
  expect(together).toEqual([expect.arrayContaining(['put_run', 'delete_token'])]);
  expect(written).toEqual(['idle']);
});
