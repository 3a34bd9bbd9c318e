import { type Callboard, startCallboard } from '../start-callboard.ts';
import { get, recordOf } from './kit/ask.ts';
import { finalCall, invoke, readCall } from './kit/calls.ts';
import { type Connect, expect, test } from './kit/contract-test.ts';
import { connectClient, spec, type ToolClient } from './kit/tool-client.ts';

const EFFECT = spec('effect');
const READS = spec('reads', { annotations: { readOnlyHint: true } });

interface Crash {
  readonly board: Callboard;
  /** The client that was asked, before its server died. */
  readonly client: ToolClient;
  readonly ids: readonly string[];
  /** The same client, back with what it knows. */
  back(known: readonly object[], hello?: object): Promise<ToolClient>;
}

/** Calls in the phase that `prepare` brings them to, then kill -9 and a restart. */
async function crashWith(
  { connect, startServer }: { connect: Connect; startServer: StartServer },
  options: {
    hello: object;
    tools: readonly (typeof EFFECT)[];
    calls: readonly string[];
    prepare?: (client: ToolClient, request: { id: string; attempt: number }) => Promise<unknown>;
  },
): Promise<Crash> {
  const { hello, tools, calls, prepare } = options;
  const first = await startServer();
  const client = await connect.client(first, { hello: { client_id: 'c', ...hello }, tools });
  const ids: string[] = [];
  for (const name of calls) {
    ids.push(await invoke(first, name, { n: ids.length }));
    await prepare?.(client, await client.request());
  }
  await first.stop('SIGKILL');
  const board = await startServer({ dataDir: first.dataDir, token: first.token });
  return {
    board,
    client,
    ids,
    back: (known, more = {}) =>
      connect.client(board, {
        hello: {
          client_id: 'c',
          ...hello,
          resume_token: client.welcome.resume_token,
          known,
          ...more,
        },
        tools,
      }),
  };
}
type StartServer = (options?: { dataDir?: string; token?: string }) => Promise<Callboard>;

const CLAIMS = { caps: ['claim', 'cancel'], journal_epoch: 'epoch-1' };
const claim = (client: ToolClient, request: { id: string; attempt: number }) =>
  client.claim(request);

test.describe('a client with its journal, back after a crash', () => {
  test.describe.configure({ mode: 'default' });
  const KINDS = ['nothing', 'done', 'started', 'running', 'cancelled', 'offered'] as const;
  let board: Callboard | undefined;
  let back: ToolClient | undefined;
  let ids: Record<(typeof KINDS)[number], string> | undefined;
  const crashed = () => {
    if (!board || !back || !ids) throw new Error('The crash comes before the first test');
    return { board, back, ids };
  };

  test.beforeAll(async () => {
    const first = await startCallboard();
    const hello = { client_id: 'c', ...CLAIMS };
    const client = await connectClient(first, { hello, tools: [EFFECT] });
    const made: string[] = [];
    for (const kind of KINDS) {
      made.push(await invoke(first, 'effect', { kind }));
      const request = await client.request();
      if (kind !== 'offered') await client.claim(request);
    }
    const [nothing = '', done = '', started = '', running = '', cancelled = '', offered = ''] =
      made;
    await first.http('POST', `/v1/tool_calls/${cancelled}/cancel`, {});
    await first.stop('SIGKILL');
    board = await startCallboard({ dataDir: first.dataDir, token: first.token });
    const known = [
      { id: done, attempt: 1, phase: 'done' },
      { id: started, attempt: 1, phase: 'started' },
      { id: running, attempt: 1, phase: 'running' },
      { id: cancelled, attempt: 1, phase: 'running' },
    ];
    const { resume_token } = client.welcome;
    back = await connectClient(board, {
      hello: { ...hello, resume_token, known },
      tools: [EFFECT],
    });
    ids = { nothing, done, started, running, cancelled, offered };
  });
  test.afterAll(async () => {
    await back?.vanish();
    await board?.remove();
  });

  test('§5 what it was granted and its journal does not know never started: it is offered again', async () => {
    const { board, back, ids } = crashed();
    const again = await back.next('tool_call_request', ({ id }) => id === ids.nothing);
    expect(again.attempt).toBe(2);
    await back.claim(again);
    back.succeed(again.id, 'done', { attempt: 2 });
    await back.next('result_acknowledged', ({ id }) => id === ids.nothing);
    expect((await readCall(board, ids.nothing)).result).toBe('done');
  });

  test('§5 what it was only offered is offered again, under the next attempt', async () => {
    const { back, ids } = crashed();
    const again = await back.next('tool_call_request', ({ id }) => id === ids.offered);
    expect(again.attempt).toBe(2);
  });

  test('§5 an answer from its journal counts, and the tool is not run again', async () => {
    const { board, back, ids } = crashed();
    back.succeed(ids.done, 'from the outbox', { attempt: 1 });
    const told = await back.next('result_acknowledged', ({ id }) => id === ids.done);
    expect(told.disposition).toBe('accepted');
    expect((await readCall(board, ids.done)).result).toBe('from the outbox');
  });

  test('§5 what it had started, with an unknown outcome, ends as outcome_unknown', async () => {
    const { board, ids } = crashed();
    const call = await finalCall(board, ids.started);
    expect(call.status).toBe('FAILED');
    expect(call.error).toMatchObject({ code: 'outcome_unknown', executed: 'unknown' });
  });

  test('§5 what it still runs goes on, and its answer counts', async () => {
    const { board, back, ids } = crashed();
    back.send({ type: 'tool_status', id: ids.running, tip: 'still at it' });
    await expect
      .poll(async () => (await readCall(board, ids.running)).card.tip)
      .toBe('still at it');
    back.succeed(ids.running, 'in the end', { attempt: 1 });
    await back.next('result_acknowledged', ({ id }) => id === ids.running);
    expect((await readCall(board, ids.running)).result).toBe('in the end');
  });

  test('§5 for what was being cancelled it gets a cancel, and it stays cancelled', async () => {
    const { board, back, ids } = crashed();
    expect(back.welcome).toMatchObject({ resumed: true, cancel: [ids.cancelled] });
    back.fail(ids.cancelled, 'Stopped', { code: 'cancelled', attempt: 1 });
    await back.next('result_acknowledged', ({ id }) => id === ids.cancelled);
    expect((await readCall(board, ids.cancelled)).error?.code).toBe('cancelled');
  });

  test('§5 nothing but what never started is asked of it again', async () => {
    const { back, ids } = crashed();
    await back.settled();
    const asked = back.all('tool_call_request').map(({ id }) => id);
    expect(asked.sort()).toEqual([ids.nothing, ids.offered].sort());
  });
});

test('§5 after a crash with a lost journal it is unknown whether it ran: effects end, readings run again', async ({
  connect,
  startServer,
}) => {
  const crash = await crashWith(
    { connect, startServer },
    { hello: CLAIMS, tools: [EFFECT, READS], calls: ['effect', 'reads'], prepare: claim },
  );
  const [effect = '', reads = ''] = crash.ids;
  const back = await crash.back([], { journal_epoch: 'epoch-2' });
  expect((await finalCall(crash.board, effect)).error).toMatchObject({ code: 'outcome_unknown' });
  const again = await back.request();
  expect([again.id, again.attempt]).toEqual([reads, 2]);
});

test('§5 after a crash what was offered may have been granted: only what may be repeated goes to another client', async ({
  connect,
  startServer,
}) => {
  const crash = await crashWith(
    { connect, startServer },
    {
      hello: CLAIMS,
      tools: [EFFECT, READS],
      calls: ['effect', 'reads'],
      prepare: async () => undefined,
    },
  );
  const [effect = '', reads = ''] = crash.ids;
  const other = await connect.client(crash.board, {
    hello: { client_id: 'other', caps: ['claim'] },
    tools: [EFFECT, READS],
  });
  const again = await other.request();
  expect([again.id, again.attempt]).toEqual([reads, 2]);
  await other.claim(again);
  other.succeed(again.id, 'mine', { attempt: 2 });
  await other.next('result_acknowledged');
  // Its journal is intact and does not have the call, which proves that it never started.
  const late = await crash.back([]);
  const own = await late.request();
  expect([own.id, own.attempt]).toEqual([effect, 2]);
  late.succeed(reads, 'also mine', { attempt: 1 });
  expect(await late.next('result_rejected')).toMatchObject({ code: 'not_your_call' });
  expect(other.all('tool_call_request').map(({ id }) => id)).toEqual([reads]);
});

test('§5 after a crash a client without a journal is not asked twice for an effect, and its first answer counts', async ({
  connect,
  startServer,
}) => {
  const crash = await crashWith(
    { connect, startServer },
    {
      hello: {},
      tools: [EFFECT, READS],
      calls: ['effect', 'reads'],
      prepare: async () => undefined,
    },
  );
  const [effect = '', reads = ''] = crash.ids;
  const back = await crash.back([]);
  expect((await back.request()).id).toBe(reads);
  back.succeed(effect, 'once', { attempt: 1 });
  expect(await back.next('result_acknowledged')).toMatchObject({ disposition: 'accepted' });
  expect(back.all('tool_call_request')).toHaveLength(1);
});

test('§2 acknowledged results survive kill -9 as they were, and a repeat is a duplicate', async ({
  connect,
  startServer,
}) => {
  const first = await startServer();
  const client = await connect.client(first, { hello: { client_id: 'c' }, tools: [EFFECT] });
  const outputs = new Map<string, unknown>();
  for (const output of [{ a: [1, null] }, 'text 🦞', 0, false, null, []]) {
    const id = await invoke(first, 'effect');
    await client.request();
    client.succeed(id, output, { display: { shown: output } });
    await client.next('result_acknowledged');
    outputs.set(id, output);
  }
  await first.stop('SIGKILL');
  const second = await startServer({ dataDir: first.dataDir, token: first.token });
  const back = await connect.client(second, {
    hello: { client_id: 'c', resume_token: client.welcome.resume_token },
    tools: [EFFECT],
  });
  for (const [id, output] of outputs) {
    const call = await readCall(second, id);
    expect(call).toMatchObject({ status: 'SUCCEEDED', card: { result: { shown: output } } });
    expect(call.result).toEqual(output);
    back.succeed(id, output, { display: { shown: output } });
    expect(await back.next('result_acknowledged')).toMatchObject({ id, disposition: 'duplicate' });
    back.succeed(id, 'another');
    expect(await back.next('result_rejected')).toMatchObject({ id, code: 'conflict' });
  }
});

test('§2 killed in the middle of many calls, every one that was answered 202 is there and ends', async ({
  connect,
  startServer,
}) => {
  const first = await startServer();
  const quick = spec('quick', { timeout_ms: 3_000 });
  const client = await connect.client(first, { hello: { client_id: 'c' }, tools: [quick] });
  client.ws.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.type === 'tool_call_request') client.succeed(message.id, message.args);
  });
  const accepted: string[] = [];
  const asking = Array.from({ length: 80 }, (_, n) =>
    invoke(first, 'quick', { n }).then(
      (id) => void accepted.push(id),
      () => undefined,
    ),
  );
  await expect.poll(() => client.all('result_acknowledged').length).toBeGreaterThan(5);
  await first.stop('SIGKILL');
  await Promise.all(asking);
  const acknowledged = client.all('result_acknowledged').map(({ id }) => id);
  expect(accepted.length).toBeGreaterThan(5);
  const second = await startServer({ dataDir: first.dataDir, token: first.token });
  for (const id of acknowledged) expect((await readCall(second, id)).status).toBe('SUCCEEDED');
  for (const id of accepted) {
    const call = recordOf(await get(second, `/v1/tool_calls/${id}?wait_ms=10000`));
    expect(call.completed_at, id).not.toBeNull();
  }
});

test("§2 after a crash a reading tool of the server's own has ended, one way or the other", async ({
  startServer,
}) => {
  const first = await startServer();
  const ids = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      invoke(first, 'calculation.eval', { expression: `${n}*2` }),
    ),
  );
  await first.stop('SIGKILL');
  const second = await startServer({ dataDir: first.dataDir, token: first.token });
  for (const id of ids) expect((await finalCall(second, id)).status).toBe('SUCCEEDED');
});
