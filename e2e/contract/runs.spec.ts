import { runRecordSchema } from '../../lib/protocol/run.ts';
import { ALLOWS_EFFECTS } from '../support/config-file.ts';
import { type Answered, get, post, refusalOf } from './kit/ask.ts';
import { invoke, readCall } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { openEventStream } from './kit/event-stream.ts';
import { spec } from './kit/tool-client.ts';

const board = sharedCallboard({ env: ALLOWS_EFFECTS });
const QUESTION = 'what is 2+3*4';

const runOf = (answer: Answered) => {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return runRecordSchema.parse(answer.body);
};
const start = async (more: object = {}) =>
  runOf(await post(board(), '/v1/runs', { input: QUESTION, model: 'rehearsal', ...more }));
const read = async (id: string) => runOf(await get(board(), `/v1/runs/${id}`));
const ended = (id: string) =>
  expect.poll(async () => (await read(id)).status, { timeout: 15_000 }).not.toBe('running');

test('§6 a run asks for a tool, gets its result, and says what it found', async () => {
  const { run_id, status, model } = await start();
  expect([status, model]).toEqual(['running', 'rehearsal']);
  expect(run_id).toMatch(/^run_/);
  await ended(run_id);
  const run = await read(run_id);
  expect(run.status).toBe('idle');
  expect(run.messages.map(({ role }) => role)[0]).toBe('user');
  const parts = run.messages.flatMap((message) => message.parts);
  const called = parts.flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : []));
  expect(called).toHaveLength(1);
  const call = await readCall(board(), called[0] ?? '');
  expect(call).toMatchObject({ run_id, tool_name: 'calculation.eval', status: 'SUCCEEDED' });
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  expect(text).toContain('14');
});

test('§8 a watcher sees the run, its messages, their text growing, and the card, in order', async ({
  connect,
}) => {
  const watcher = await connect.watcher(board());
  await watcher.next('snapshot');
  const { run_id } = await start();
  await watcher.next('run', ({ run }) => run.run_id === run_id && run.status === 'idle');
  const own = watcher.events().filter((event) => {
    if (event.type === 'run') return event.run.run_id === run_id;
    return 'run_id' in event && event.run_id === run_id;
  });
  const types = new Set(own.map(({ type }) => type));
  expect([...types].sort()).toEqual(['call', 'message', 'message_delta', 'run']);
  const statuses = own.flatMap((event) =>
    event.type === 'call' && event.update.status ? [event.update.status] : [],
  );
  expect([...new Set(statuses)]).toEqual(['WAIT', 'DOING', 'SUCCESS']);
  // The deltas add up to what the next whole message says.
  const grown = new Map<string, string>();
  let deltas = 0;
  for (const event of own) {
    if (event.type === 'message_delta') {
      deltas += 1;
      const key = `${event.message_id} ${event.index}`;
      grown.set(key, (grown.get(key) ?? '') + event.delta);
    } else if (event.type === 'message') {
      for (const [index, part] of event.message.parts.entries()) {
        if (part.type !== 'text') continue;
        const key = `${event.message.message_id} ${index}`;
        expect(part.text.startsWith(grown.get(key) ?? '')).toBe(true);
        grown.set(key, part.text);
      }
    }
  }
  expect(deltas).toBeGreaterThan(0);
  for (const { role, message_id, parts } of (await read(run_id)).messages) {
    for (const [index, part] of parts.entries()) {
      if (role !== 'assistant' || part.type !== 'text') continue;
      expect(grown.get(`${message_id} ${index}`)).toBe(part.text);
    }
  }
});

test('§6 the events of a run begin with a snapshot, and go on from Last-Event-ID without it', async () => {
  const { run_id } = await start();
  const stream = await openEventStream(board(), `/v1/runs/${run_id}/events`);
  expect(stream.status).toBe(200);
  expect(stream.headers.get('content-type')).toContain('text/event-stream');
  expect(stream.headers.get('cache-control')).toContain('no-store');
  const first = await stream.until((event) => event.type === 'snapshot');
  expect(first.id).toBe(first.event.seq);
  await stream.until((event) => event.type === 'run' && event.run.status === 'idle');
  stream.close();
  const ids = stream.events.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  for (const [path, headers] of [
    [`/v1/runs/${run_id}/events`, { 'last-event-id': String(first.id) }],
    [`/v1/runs/${run_id}/events?since=${first.id}`, {}],
    // A reader that reconnects knows better than the URL that it was given.
    [`/v1/runs/${run_id}/events?since=0`, { 'last-event-id': String(first.id) }],
  ] as const) {
    const again = await openEventStream(board(), path, { ...headers });
    await again.until((event) => event.type === 'run' && event.run.status === 'idle');
    again.close();
    expect(again.events.map(({ id }) => id)).toEqual(ids.slice(1));
  }
});

test('§6 a message keeps the client that it came from, and the calls of its turn ask that one', async ({
  connect,
}) => {
  const tide = spec('tide.level', { description: 'Tells the level of the tide.' });
  const [mine, other] = [
    await connect.client(board(), { hello: { client_id: 'mine' }, tools: [tide] }),
    await connect.client(board(), { hello: { client_id: 'other' }, tools: [tide] }),
  ];
  other.send({ type: 'client_state', touched: true });
  await other.settled();
  const { run_id } = await start({ input: 'Call tide.level', client_id: 'mine' });
  const { id } = await mine.request();
  mine.succeed(id, 'high');
  await ended(run_id);
  expect((await read(run_id)).messages[0]).toMatchObject({ role: 'user', client_id: 'mine' });
  const more = { input: 'Call tide.level', client_id: 'other' };
  await post(board(), `/v1/runs/${run_id}/messages`, more);
  other.succeed((await other.request()).id, 'low');
  await ended(run_id);
  const body = { input: 'hi', client_id: 7 };
  expect(refusalOf(await post(board(), '/v1/runs', body))).toMatchObject({ status: 400 });
});

test('§6 a conversation goes on in its run', async () => {
  const { run_id } = await start();
  await ended(run_id);
  const { messages } = await read(run_id);
  await post(board(), `/v1/runs/${run_id}/messages`, { input: 'what is 5*5' });
  await ended(run_id);
  const after = await read(run_id);
  expect(after.messages.slice(0, messages.length)).toEqual(messages);
  expect(JSON.stringify(after.messages.slice(messages.length))).toContain('25');
});

test('§6 a message while a turn runs is read in it', async ({ connect }) => {
  const client = await connect.client(board(), {
    tools: [spec('open_gate', { description: 'Open the garden gate' })],
  });
  const { run_id } = await start({ input: 'please open_gate', tools: ['open_gate'] });
  const { id } = await client.request();
  const meanwhile = runOf(
    await post(board(), `/v1/runs/${run_id}/messages`, { input: 'please open_gate again' }),
  );
  expect(meanwhile.status).toBe('running');
  client.succeed(id, 'open');
  client.succeed((await client.request()).id, 'open');
  await ended(run_id);
  const { messages } = await read(run_id);
  expect(messages.map(({ role }) => role).slice(0, 4)).toEqual([
    ...['user', 'assistant', 'user', 'assistant'],
  ]);
});

test('§6 cancelling a run stops its turn and its call, and the client gets a cancel', async ({
  connect,
}) => {
  const client = await connect.client(board(), {
    hello: { caps: ['cancel'] },
    tools: [spec('open_gate', { description: 'Open the garden gate' })],
  });
  const { run_id } = await start({ input: 'please open_gate', tools: ['open_gate'] });
  const { id } = await client.request();
  const cancelled = runOf(await post(board(), `/v1/runs/${run_id}/cancel`));
  expect(cancelled.status).toBe('cancelled');
  expect(await client.next('tool_call_cancel')).toMatchObject({ id });
  client.fail(id, 'Stopped', { code: 'cancelled' });
  await client.next('result_acknowledged');
  expect((await readCall(board(), id)).error?.code).toBe('cancelled');
});

test('§1 an id that the server has not seen makes a run, once', async () => {
  await Promise.all(
    Array.from({ length: 5 }, () =>
      invoke(board(), 'calculation.eval', { expression: '1' }, { run_id: 'run_made' }),
    ),
  );
  const run = await read('run_made');
  expect([run.status, run.model, run.messages]).toEqual(['idle', null, []]);
});

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`§6 a run goes on when its reader hangs up, and over a restart by ${signal}`, async ({
    startServer,
  }) => {
    const first = await startServer();
    const answer = await post(first, '/v1/runs', { input: QUESTION, model: 'rehearsal' });
    const { run_id } = runOf(answer);
    await first.stop(signal);
    const second = await startServer({ dataDir: first.dataDir, token: first.token });
    await expect
      .poll(async () => runOf(await get(second, `/v1/runs/${run_id}`)).status, { timeout: 20_000 })
      .toBe('idle');
    const run = runOf(await get(second, `/v1/runs/${run_id}`));
    expect(run.messages[0]?.parts).toEqual([{ type: 'text', text: QUESTION }]);
    expect(run.messages.every(({ status }) => status === 'done')).toBe(true);
    const parts = run.messages.flatMap((message) => message.parts);
    expect(parts).toContainEqual(expect.objectContaining({ type: 'notice', code: 'restarted' }));
    expect(JSON.stringify(parts)).toContain('14');
  });
}

test('§2 a run whose tool was granted at a crash waits for its client and answers with its result', async ({
  connect,
  startServer,
}) => {
  const env = ALLOWS_EFFECTS;
  const first = await startServer({ env });
  const hello = { client_id: 'c', caps: ['claim'], journal_epoch: 'e1' };
  const tools = [spec('stopwatch_read', { description: 'Read the stopwatch of this device' })];
  const client = await connect.client(first, { hello, tools });
  const input = 'read the stopwatch';
  const { run_id } = runOf(await post(first, '/v1/runs', { input, model: 'rehearsal' }));
  const request = await client.request();
  await client.claim(request);
  await first.stop('SIGKILL');
  const second = await startServer({ env, dataDir: first.dataDir, token: first.token });
  const known = [{ id: request.id, attempt: 1, phase: 'done' }];
  const { resume_token } = client.welcome;
  const back = await connect.client(second, { hello: { ...hello, resume_token, known }, tools });
  back.succeed(request.id, 'seventy-three', { attempt: 1 });
  await back.next('result_acknowledged');
  await expect
    .poll(async () => runOf(await get(second, `/v1/runs/${run_id}`)).status, { timeout: 20_000 })
    .toBe('idle');
  const run = runOf(await get(second, `/v1/runs/${run_id}`));
  expect(JSON.stringify(run.messages.at(-1))).toContain('seventy-three');
  const named = run.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : [])),
  );
  expect(named).toEqual([request.id]);
  expect(back.all('tool_call_request')).toEqual([]);
});
