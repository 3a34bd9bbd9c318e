import { expect, test } from 'vitest';
import { askingText } from '#lib/protocol/asking-client';
import { FIRST_OPERATOR, type Principal } from '../auth/principal.ts';
import { testPolicy } from '../policy/testing/test-policy.ts';
import { type CallsSetup, operator, reading, setupCalls, tool } from './testing/setup-calls.ts';
import { readToolStats } from './tool-stats.ts';

const ALL = { clientId: 'all' };

async function setup(options: Parameters<typeof setupCalls>[0] = {}) {
  const one = await setupCalls(options);
  const joining = (...ids: string[]) =>
    ids.map((id) => {
      const client = one.connect(id);
      client.offer(tool('where', reading));
      one.clock.advance(1);
      return client;
    });
  const until = async (isSo: () => boolean | Promise<boolean>) => {
    await expect.poll(isSo).toBe(true);
  };
  const final = async (id: string) => {
    await until(async () => (await one.call(id)).completedAt !== undefined);
    return one.call(id);
  };
  /** Calls that work for this one, oldest first. */
  const below = async (id: string) => {
    const { calls } = await one.calls.list({ limit: 100 });
    return calls.filter(({ parentCallId }) => parentCallId === id).toReversed();
  };
  return { ...one, joining, until, final, below };
}

/** Answers the call that a client was asked. */
const answer = (client: ReturnType<CallsSetup['connect']>, output: unknown) =>
  client.succeed(client.requests().at(-1)?.id ?? '', output);

test('[RT60] [TR60] a call for all asks each client once, and gathers what they give', async () => {
  const { joining, invoke, until, final, below, cardOf } = await setup();
  const clients = joining('a', 'b', 'c');
  const { id } = await invoke('where', { n: 1 }, { clientId: 'all' });
  await until(() => clients.every((one) => one.requests().length === 1));
  for (const one of clients) await answer(one, `at ${one.clientId}`);
  const call = await final(id);
  expect(call).toMatchObject({ status: 'SUCCEEDED', toolName: 'where', wantedClientId: 'all' });
  const results = clients.map(({ clientId }) => ({
    ...{ client: clientId, client_id: clientId, ok: true, output: `at ${clientId}` },
    tool_call_id: expect.any(String),
  }));
  expect(call.result).toEqual({ results: expect.arrayContaining(results) });
  const children = await below(id);
  expect(children.map(({ status, args, depth }) => [status, args, depth])).toEqual(
    clients.map(() => ['SUCCEEDED', { n: 1 }, 1]),
  );
  expect(new Set(children.map(({ wantedClientId }) => wantedClientId))).toEqual(
    new Set(['a', 'b', 'c']),
  );
  expect(cardOf(id)).toMatchObject({ source: 'pool', progress: { done: 3, total: 3 } });
  expect(clients.map((one) => one.requests().length)).toEqual([1, 1, 1]);
});

test('[RT71] of the tabs of one browser one is asked: the one in which the person asks, else the one touched last', async () => {
  const { connect, invoke, until, final, table, clock } = await setup();
  const tab = (clientId: string, instanceId: string) => {
    const one = connect(clientId, { instanceId });
    one.offer(tool('where', reading));
    clock.advance(1);
    table.touch(instanceId);
    return one;
  };
  const tabs = [tab('b1', 't1'), tab('b1', 't2'), tab('b1', 't3'), tab('b2', 't4')];
  const asked = () => tabs.map((one) => one.requests().length);
  const plain = await invoke('where', {}, { clientId: 'all' });
  await until(() => asked().join() === '0,0,1,1');
  const fromTab = await invoke('where', {}, { ...ALL, fromClientId: askingText('b1', 't1') });
  await until(() => asked().join() === '1,0,1,2');
  for (const one of tabs) {
    for (const { id } of one.requests()) await one.succeed(id, one.instanceId);
  }
  const given = async (id: string) => (await final(id)).result;
  expect(await given(plain.id)).toMatchObject({
    results: [{ output: 't4' }, { output: 't3' }],
  });
  expect(await given(fromTab.id)).toMatchObject({
    results: [{ output: 't1' }, { output: 't4' }],
  });
});

test('[RT70] the statistics count what each client was asked, and not the whole', async () => {
  const { joining, invoke, until, final, store } = await setup();
  const clients = joining('a', 'b');
  const { id } = await invoke('where', {}, ALL);
  await until(() => clients.every((one) => one.requests().length === 1));
  for (const one of clients) await answer(one, 'here');
  await final(id);
  const { calls, tools } = await readToolStats(store, undefined);
  expect(calls).toBe(2);
  expect(tools).toMatchObject([{ tool_name: 'where', count: 2, succeeded: 2 }]);
  expect(new Set(tools[0]?.clients.map(({ client_id }) => client_id))).toEqual(new Set(['a', 'b']));
});

test('[RT61] what one client fails at is inside the result; where none answers, the call failed', async () => {
  const { joining, invoke, until, final } = await setup();
  const [a, b] = joining('a', 'b');
  if (!a || !b) throw new Error('two clients');
  const first = await invoke('where@all');
  await until(() => a.requests().length === 1 && b.requests().length === 1);
  await answer(a, 'here');
  await b.fail(b.requests()[0]?.id ?? '', 'no signal');
  const mixed = await final(first.id);
  expect(mixed.status).toBe('SUCCEEDED');
  expect(mixed.result).toMatchObject({
    results: expect.arrayContaining([
      expect.objectContaining({ client: 'a', ok: true, output: 'here' }),
      expect.objectContaining({
        ...{ client: 'b', ok: false },
        error: { code: 'tool_error', message: 'no signal', executed: 'yes' },
      }),
    ]),
  });
  const second = await invoke('where@all');
  await until(() => a.requests().length === 2 && b.requests().length === 2);
  for (const one of [a, b]) await one.fail(one.requests()[1]?.id ?? '', `${one.clientId} broke`);
  expect((await final(second.id)).error).toMatchObject({
    code: 'tool_error',
    message: expect.stringMatching(/a: tool_error \(a broke\)/),
  });
});

test('[RT61] a client that does not answer probes is in the result, and has no call', async () => {
  const { joining, invoke, until, final, table, below } = await setup();
  const [a, b] = joining('a', 'b');
  if (!a || !b) throw new Error('two clients');
  table.update(b.instanceId, { responsive: false });
  const { id } = await invoke('where@all');
  await until(() => a.requests().length === 1);
  await answer(a, 'here');
  expect((await final(id)).result).toMatchObject({
    results: [
      { client: 'a', ok: true },
      { client: 'b', ok: false, error: { code: 'no_provider', executed: 'no' } },
    ],
  });
  expect(await below(id)).toHaveLength(1);
});

test('[RT62] each client is decided on by its own hints: the one with effects waits for a person, the reader has run', async () => {
  const { check, denial } = testPolicy({});
  const { connect, calls, call, until, final, below } = await setup({ check, denial });
  const reader = connect('reader');
  reader.offer(tool('where', reading));
  const writer = connect('writer');
  writer.offer(tool('where'));
  const principal: Principal = { kind: 'run', runId: 'run_1', owner: FIRST_OPERATOR };
  const draft = await calls.draft({ principal, runId: 'run_1', tool: 'where' });
  const { id } = await draft.complete({}, 'all');
  expect((await call(id)).phase).not.toBe('approval');
  await until(() => reader.requests().length === 1);
  await until(async () => (await below(id)).some(({ phase }) => phase === 'approval'));
  const waiting = (await below(id)).filter(({ phase }) => phase === 'approval');
  expect(waiting).toMatchObject([{ wantedClientId: 'writer', card: { client_name: 'writer' } }]);
  expect(writer.requests()).toEqual([]);
  // A person takes the time of none: the clock of the whole stands (CA61).
  expect((await call(id)).deadlines).toHaveProperty('executeLeftMs');
  await answer(reader, 'read');
  await calls.decide(waiting[0]?.id ?? '', operator, { decision: 'yes' });
  await until(() => writer.requests().length === 1);
  await answer(writer, 'written');
  expect((await final(id)).result).toMatchObject({
    results: expect.arrayContaining([
      expect.objectContaining({ client: 'reader', output: 'read' }),
      expect.objectContaining({ client: 'writer', output: 'written' }),
    ]),
  });
});

test('[RT62] where all have effects a person is asked for each of them, and not about the whole', async () => {
  const { check, denial } = testPolicy({});
  const { connect, calls, call, until, below } = await setup({ check, denial });
  for (const id of ['a', 'b']) connect(id).offer(tool('where'));
  const principal: Principal = { kind: 'run', runId: 'run_1', owner: FIRST_OPERATOR };
  const draft = await calls.draft({ principal, runId: 'run_1', tool: 'where' });
  const { id } = await draft.complete({}, 'all');
  expect((await call(id)).phase).not.toBe('approval');
  await until(async () => {
    const asked = (await below(id)).filter(({ phase }) => phase === 'approval');
    return asked.length === 2;
  });
});

test('[RT62] what the policy denies of one client is denied of that one alone', async () => {
  const { check, denial } = testPolicy({
    rules: [{ effect: 'deny', clients: ['kiosk'], tools: ['where'] }],
  });
  const { joining, invoke, until, final } = await setup({ check, denial });
  const [phone, kiosk] = joining('phone', 'kiosk');
  if (!phone || !kiosk) throw new Error('two clients');
  const { id } = await invoke('where@all');
  await until(() => phone.requests().length === 1);
  await answer(phone, 'here');
  expect((await final(id)).result).toMatchObject({
    results: expect.arrayContaining([
      expect.objectContaining({
        ...{ client: 'kiosk', ok: false },
        error: expect.objectContaining({ code: 'denied', executed: 'no' }),
      }),
    ]),
  });
  expect(kiosk.requests()).toEqual([]);
});

test('[RT63] a cancel of the call cancels what it asked', async () => {
  const { joining, invoke, until, final, calls, below } = await setup();
  const clients = joining('a', 'b');
  const { id } = await invoke('where@all');
  await until(() => clients.every((one) => one.requests().length === 1));
  await calls.cancel(id, 'Not needed', 'operator', 'operator');
  expect((await final(id)).error).toMatchObject({ code: 'cancelled' });
  await until(async () => (await below(id)).every(({ phase }) => phase === 'cancelling'));
  expect(clients.map(({ inbox }) => inbox.some(({ type }) => type === 'tool_call_cancel'))).toEqual(
    [true, true],
  );
});

test('[RT64] at most 16 clients are asked, and the result has how many were not', async () => {
  const { joining, invoke, until, final } = await setup();
  const clients = joining(...Array.from({ length: 18 }, (_, at) => `c${at}`));
  const asked = () => clients.filter((one) => one.requests().length === 1);
  const { id } = await invoke('where@all');
  await until(() => asked().length === 16);
  for (const one of asked()) await answer(one, one.clientId);
  expect((await final(id)).result).toMatchObject({
    results: { length: 16 },
    clients_not_asked: 2,
  });
});

test('[RT64] the results have 256 KiB together, and each that is cut is marked', async () => {
  const { joining, invoke, until, final } = await setup();
  const [a, b] = joining('a', 'b');
  if (!a || !b) throw new Error('two clients');
  const { id } = await invoke('where@all');
  await until(() => a.requests().length === 1 && b.requests().length === 1);
  await answer(a, 'x'.repeat(1024 * 1024));
  await answer(b, 'short');
  const { result } = await final(id);
  expect(JSON.stringify(result).length).toBeLessThan(256 * 1024);
  expect(result).toMatchObject({
    results: expect.arrayContaining([
      expect.objectContaining({ client: 'a', truncated: true }),
      expect.objectContaining({ client: 'b', output: 'short' }),
    ]),
  });
});

test('[RT65] a server that ends in the middle leaves the calls of the clients, and the whole is interrupted', async () => {
  const before = await setup();
  const clients = before.joining('a', 'b');
  const { id } = await before.invoke('where@all');
  await before.until(() => clients.every((one) => one.requests().length === 1));
  await before.close();
  const after = await setup({ dir: before.dir });
  await after.calls.recover();
  expect((await after.final(id)).error).toMatchObject({
    code: 'interrupted',
    executed: 'unknown',
  });
  expect((await after.below(id)).map(({ completedAt }) => completedAt)).toEqual([
    undefined,
    undefined,
  ]);
});

test('[RT65] a server that stops cancels none of what was asked', async () => {
  const { joining, invoke, until, calls, below, settle } = await setup();
  const clients = joining('a', 'b');
  const { id } = await invoke('where@all');
  await until(() => clients.every((one) => one.requests().length === 1));
  calls.stop();
  await settle();
  const cancelled = clients.flatMap(({ inbox }) =>
    inbox.filter(({ type }) => type === 'tool_call_cancel'),
  );
  expect(cancelled).toEqual([]);
  expect((await below(id)).map(({ phase }) => phase)).toEqual(['offered', 'offered']);
});

test('[RT66] a retry of a call for all asks each client that is there then', async () => {
  const { joining, invoke, until, final, calls } = await setup();
  const [a] = joining('a');
  if (!a) throw new Error('one client');
  const first = await invoke('where@all');
  await until(() => a.requests().length === 1);
  await answer(a, 1);
  await final(first.id);
  const [b] = joining('b');
  if (!b) throw new Error('another client');
  expect(await calls.retry(first.id, operator)).toMatchObject({ ok: true });
  await until(() => a.requests().length === 2 && b.requests().length === 1);
});

test('[TR60] for all of a tool that no client offers, and of one of the server, there is no pool', async () => {
  const { calls, invoke } = await setup();
  const asked = { principal: operator, runId: 'run_1', args: {} };
  expect(await calls.invoke({ ...asked, tool: 'gone@all' })).toMatchObject({
    ...{ ok: false, code: 'tool_not_found' },
  });
  // As with any client that is named for it.
  expect(await invoke('hold', {}, { clientId: 'all' })).toMatchObject({ wantedClientId: null });
});
