import { mergeCard } from '../../lib/call/merge-card.ts';
import type { Card } from '../../lib/protocol/card.ts';
import { callEventsPageSchema, callsPageSchema } from '../../lib/protocol/rest.ts';
import { ask, get, post, recordOf, refusalOf } from './kit/ask.ts';
import { finalCall, invoke, readCall } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { spec } from './kit/tool-client.ts';

const board = sharedCallboard();
const calc = (expression: string, run_id: string) =>
  invoke(board(), 'calculation.eval', { expression }, { run_id });
const list = async (query: string) =>
  callsPageSchema.parse((await get(board(), `/v1/tool_calls?${query}`)).body);
const idsOf = async (query: string) =>
  (await list(query)).tool_calls.map(({ tool_call_id }) => tool_call_id);

test('§6 the history is read by pages without a gap or a repeat, while calls are added', async () => {
  const made: string[] = [];
  for (let n = 0; n < 7; n += 1) made.push(await calc(`${n}+1`, 'run_pages'));
  const seen: string[] = [];
  let cursor = '';
  for (;;) {
    const page = await list(`run_id=run_pages&limit=2&cursor=${encodeURIComponent(cursor)}`);
    seen.push(...page.tool_calls.map(({ tool_call_id }) => tool_call_id));
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
    await calc('0', 'run_pages');
  }
  expect(seen).toEqual(made.toReversed());
});

test('§6 the history is filtered by run, status, tool and client, or all', async ({ connect }) => {
  const client = await connect.client(board(), {
    hello: { client_id: 'filter-client' },
    tools: ['filtered'],
  });
  const good = await invoke(board(), 'filtered', {}, { run_id: 'run_filter' });
  client.succeed((await client.request()).id, 1);
  const bad = await invoke(board(), 'filtered', {}, { run_id: 'run_filter' });
  client.fail((await client.request()).id, 'broken');
  await finalCall(board(), bad);
  const own = await calc('1', 'run_filter');
  await finalCall(board(), own);
  expect(await idsOf('run_id=run_filter')).toEqual([own, bad, good]);
  expect(await idsOf('run_id=run_filter&status=FAILED')).toEqual([bad]);
  expect(await idsOf('run_id=run_filter&tool=calculation.eval')).toEqual([own]);
  expect(await idsOf('client=filter-client')).toEqual([bad, good]);
  expect(await idsOf('client=filter-client&status=SUCCEEDED&tool=filtered')).toEqual([good]);
  expect(await idsOf('run_id=nowhere')).toEqual([]);
});

test('every event of a call is listed with actor and time, and merges to the card of its version', async ({
  connect,
}) => {
  const client = await connect.client(board(), {
    hello: { client_id: 'events-client', caps: ['claim'] },
    tools: ['eventful'],
  });
  const id = await invoke(board(), 'eventful', { a: 1 });
  const request = await client.request();
  await client.claim(request);
  client.send({ type: 'tool_status', id, tip: 'half way', progress: { done: 1 } });
  client.succeed(id, { done: true }, { attempt: 1 });
  const record = await finalCall(board(), id);
  const path = `/v1/tool_calls/${id}/events`;
  const read = async (query: string) =>
    callEventsPageSchema.parse((await get(board(), `${path}${query}`)).body);
  const { events, next_after } = await read('');
  expect(next_after).toBeNull();
  expect(events.map(({ version }) => version)).toEqual(events.map((_, at) => at + 1));
  expect(events.map(({ type, actor, attempt }) => [type, actor, attempt])).toEqual([
    ['created', 'operator', 0],
    ['offered', 'server', 1],
    ['claimed', 'client:events-client', 1],
    ['status', 'client:events-client', 1],
    ['answered', 'client:events-client', 1],
  ]);
  // The test's client connects by the token of the first run, as the caller does.
  const here = { token_id: null, address: expect.stringContaining('127.0.0.1') };
  expect(events.map(({ via }) => via)).toEqual([here, undefined, here, here, here]);
  const cards: Card[] = [];
  for (const { update } of events) cards.push(mergeCard(cards.at(-1), update));
  expect(cards.map(({ status, phase }) => [status, phase])).toEqual([
    ['WAIT', 'queued'],
    ['DOING', 'offered'],
    ['DOING', 'granted'],
    ['DOING', 'granted'],
    ['SUCCESS', null],
  ]);
  expect(cards.at(-1)).toEqual(record.card);
  const first = await read('?limit=2');
  expect([first.events, first.next_after]).toEqual([events.slice(0, 2), 2]);
  expect((await read('?after=2')).events).toEqual(events.slice(2));
  expect(refusalOf(await get(board(), `${path}?limit=0`))).toMatchObject({ status: 400 });
  expect(refusalOf(await get(board(), '/v1/tool_calls/tc_none/events'))).toMatchObject({
    status: 404,
    code: 'call_not_found',
  });
});

test('§6 q finds words of arguments, results and errors, in any language and without harm', async ({
  connect,
}) => {
  const client = await connect.client(board(), { tools: ['wordy'] });
  const inArgs = await invoke(board(), 'wordy', { note: 'a zebrafish swims' });
  client.succeed((await client.request()).id, 'nothing');
  const inResult = await invoke(board(), 'wordy', {});
  client.succeed((await client.request()).id, { deep: ['Überraschung', '日本語の結果'] });
  const inError = await invoke(board(), 'wordy', {});
  client.fail((await client.request()).id, 'The quagmire is flooded');
  await finalCall(board(), inError);
  const find = (q: string) => idsOf(`q=${encodeURIComponent(q)}`);
  expect(await find('zebrafish')).toEqual([inArgs]);
  expect(await find('ZEBRAFISH swims')).toEqual([inArgs]);
  expect(await find('überraschung')).toEqual([inResult]);
  expect(await find('quagmire')).toEqual([inError]);
  expect(await find('zebrafish quagmire')).toEqual([]);
  for (const q of ['"', "' OR 1=1 --", 'a AND', 'NEAR(', '*', 'note:zebrafish', '-', '%', '(((']) {
    const answer = await get(board(), `/v1/tool_calls?q=${encodeURIComponent(q)}`);
    expect(answer.status, q).toBe(200);
  }
});

test('[HT4] [HT46] §9 a query that makes no sense is refused, and says where', async () => {
  for (const [query, path] of [
    ['limit=0', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=100000', 'limit'],
    ['status=DONE', 'status'],
    [`q=${'x'.repeat(1_001)}`, 'q'],
    ['q=one+two+three+four+five+six+seven+eight+nine', 'q'],
    [`q=${'a+'.repeat(450)}`, 'q'],
  ] as const) {
    const refusal = refusalOf(await get(board(), `/v1/tool_calls?${query}`));
    expect(refusal, query).toMatchObject({ status: 400, code: 'bad_request' });
    expect(refusal.details?.[0]?.path).toBe(path);
  }
  for (const cursor of ['x', 'e30', '%00', 'null']) {
    const refusal = refusalOf(await get(board(), `/v1/tool_calls?cursor=${cursor}`));
    expect(refusal, cursor).toMatchObject({ status: 400, code: 'bad_request' });
  }
  expect((await get(board(), '/v1/tool_calls?limit=&cursor=')).status).toBe(200);
  const unknown = refusalOf(await get(board(), '/v1/tool_calls?later=1'));
  expect(unknown).toMatchObject({ status: 400, code: 'bad_request' });
  expect(JSON.stringify(unknown)).toContain('later');
});

test('[HT11] §6 with wait_ms an invoke gives the record when it is final in time, else the id', async ({
  connect,
}) => {
  const client = await connect.client(board(), { tools: ['waited'] });
  const invokeIt = (wait_ms: unknown) =>
    post(board(), '/v1/tools/waited/invoke', { run_id: 'r', args: {}, wait_ms });
  const held = invokeIt(10_000);
  client.succeed((await client.request()).id, 'now');
  const record = recordOf(await held);
  expect(record).toMatchObject({ status: 'SUCCEEDED', result: 'now', phase: null });
  const early = await invokeIt(50);
  expect(early.status).toBe(202);
  const { id } = await client.request();
  expect(early.body).toMatchObject({ tool_call_id: id, status: 'pending' });
  const open = recordOf(await get(board(), `/v1/tool_calls/${id}?wait_ms=50`));
  expect([open.status, open.completed_at]).toEqual(['RUNNING', null]);
  const waiting = get(board(), `/v1/tool_calls/${id}?wait_ms=10000`);
  client.succeed(id, 'later');
  expect(recordOf(await waiting).result).toBe('later');
  for (const wrong of [-1, 'soon', {}]) expect((await invokeIt(wrong)).status).toBe(400);
  expect((await get(board(), `/v1/tool_calls/${id}?wait_ms=-1`)).status).toBe(400);
});

test('§6 a failed call is no HTTP error: its record says it', async ({ connect }) => {
  const client = await connect.client(board(), { tools: ['failing'] });
  const held = post(board(), '/v1/tools/failing/invoke', {
    run_id: 'r',
    args: {},
    wait_ms: 10_000,
  });
  client.fail((await client.request()).id, 'no');
  expect(recordOf(await held)).toMatchObject({ status: 'FAILED', error: { code: 'tool_error' } });
});

test('§6 fifty requests at once with one Idempotency-Key are one call, also after a crash', async ({
  connect,
  startServer,
}) => {
  const first = await startServer();
  const client = await connect.client(first, { tools: ['idem'] });
  const body = { run_id: 'run_idem', args: { b: 1, a: 2 } };
  const headers = { 'idempotency-key': 'key-1' };
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => post(first, '/v1/tools/idem/invoke', body, { headers })),
  );
  const ids = new Set(answers.map(({ body }) => (body as { tool_call_id: string }).tool_call_id));
  expect(ids.size).toBe(1);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  const { id } = await client.request();
  await client.settled();
  expect(client.all('tool_call_request')).toHaveLength(1);
  client.succeed(id, 'done');
  await client.next('result_acknowledged');
  const waited = await post(
    first,
    '/v1/tools/idem/invoke',
    { ...body, wait_ms: 5_000 },
    { headers },
  );
  expect(recordOf(waited)).toMatchObject({ tool_call_id: id, result: 'done' });
  const other = await post(first, '/v1/tools/idem/invoke', { ...body, args: {} }, { headers });
  expect(refusalOf(other).status).toBe(422);
  await first.stop('SIGKILL');
  const second = await startServer({ dataDir: first.dataDir, token: first.token });
  await connect.client(second, { tools: ['idem'] });
  const again = await post(second, '/v1/tools/idem/invoke', body, { headers });
  expect(again.body).toMatchObject({ tool_call_id: id });
});

test('§9 an Idempotency-Key that is none is refused', async () => {
  const headers = { 'idempotency-key': 'x'.repeat(256) };
  const body = { run_id: 'r', args: { expression: '1' } };
  const answer = await post(board(), '/v1/tools/calculation.eval/invoke', body, { headers });
  expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'bad_request' });
});

test('§6 what has ended can be retried, with the same arguments or others, as a new call', async ({
  connect,
}) => {
  const client = await connect.client(board(), { tools: ['again'] });
  const id = await invoke(board(), 'again', { n: 1 }, { run_id: 'run_again' });
  await client.request();
  expect(refusalOf(await post(board(), `/v1/tool_calls/${id}/retry`))).toMatchObject({
    status: 409,
    code: 'conflict',
  });
  client.fail(id, 'first');
  await client.next('result_acknowledged');
  const retried = recordOf(await post(board(), `/v1/tool_calls/${id}/retry`));
  expect(retried).toMatchObject({ run_id: 'run_again', args: { n: 1 }, retry_of: id });
  expect(retried.tool_call_id).not.toBe(id);
  expect((await client.request()).id).toBe(retried.tool_call_id);
  const changed = recordOf(await post(board(), `/v1/tool_calls/${id}/retry`, { args: { n: 2 } }));
  expect((await client.request()).args).toEqual({ n: 2 });
  expect(changed.retry_of).toBe(id);
  const headers = { 'idempotency-key': 'again-1' };
  const retry = () => post(board(), `/v1/tool_calls/${id}/retry`, {}, { headers });
  const [one, two] = [recordOf(await retry()), recordOf(await retry())];
  expect(two.tool_call_id).toBe(one.tool_call_id);
  expect((await client.request()).id).toBe(one.tool_call_id);
  expect((await readCall(board(), id)).status).toBe('FAILED');
});

test('§6 a call that is given more time has it', async ({ connect }) => {
  const client = await connect.client(board(), { tools: [spec('slow', { timeout_ms: 2_000 })] });
  const id = await invoke(board(), 'slow');
  await client.request();
  const before = (await readCall(board(), id)).card.clock?.deadline_at ?? 0;
  const extended = recordOf(await post(board(), `/v1/tool_calls/${id}/extend`, { by_ms: 60_000 }));
  expect(extended.timeout_ms).toBe(62_000);
  expect(extended.card.clock?.deadline_at).toBeCloseTo(before + 60, 1);
  const other = await invoke(board(), 'slow');
  expect((await finalCall(board(), other)).status).toBe('TIMEOUT');
  expect((await readCall(board(), id)).status).toBe('RUNNING');
  for (const by_ms of [0, -1, 'x', 1e12]) {
    expect((await post(board(), `/v1/tool_calls/${id}/extend`, { by_ms })).status).toBe(400);
  }
  client.succeed(id, 'took its time');
  await client.next('result_acknowledged');
  expect((await post(board(), `/v1/tool_calls/${id}/extend`, { by_ms: 1 })).status).toBe(409);
});

test('§6 every action on a call that is nowhere is the same 404', async () => {
  for (const [action, body] of [
    ['cancel', {}],
    ['retry', {}],
    ['approval', { decision: 'yes' }],
    ['answer', { output: 1 }],
    ['extend', { by_ms: 1 }],
  ] as const) {
    const answer = await post(board(), `/v1/tool_calls/tc_nowhere/${action}`, body);
    expect(refusalOf(answer), action).toMatchObject({ status: 404, code: 'call_not_found' });
  }
});

test('§9 arguments that do not fit say where and why, and leave no call', async ({ connect }) => {
  await connect.client(board(), {
    tools: [
      spec('strict', {
        parameters: {
          type: 'object',
          properties: { size: { type: 'integer', minimum: 1 } },
          required: ['size'],
          additionalProperties: false,
        },
      }),
    ],
  });
  for (const args of [{}, { size: 0 }, { size: 'big' }, { size: 1, colour: 'red' }, [], 'x', 7]) {
    const answer = await post(board(), '/v1/tools/strict/invoke', { run_id: 'run_strict', args });
    const refusal = refusalOf(answer);
    expect(refusal, JSON.stringify(args)).toMatchObject({ status: 422, code: 'invalid_args' });
    expect(refusal.details?.length).toBeGreaterThan(0);
  }
  expect(await idsOf('run_id=run_strict')).toEqual([]);
});

test('[HT5] §9 bodies that are too large, too deep, not UTF-8 or not JSON are refused as such', async () => {
  const path = '/v1/tools/calculation.eval/invoke';
  const refused = async (body: string | Buffer, headers: Record<string, string> = {}) =>
    refusalOf(await ask(board(), 'POST', path, { body, headers }));
  const large = { run_id: 'r', args: { expression: '1', x: 'x'.repeat(300_000) } };
  expect(await refused(JSON.stringify(large))).toMatchObject({ status: 413, code: 'too_large' });
  expect(await refused(' '.repeat(1_100_000))).toMatchObject({ status: 413, code: 'too_large' });
  for (const body of [
    '{not json',
    '['.repeat(5_000),
    '{"a":'.repeat(100_000),
    `{"run_id":"r","args":${'['.repeat(70)}${']'.repeat(70)}}`,
    Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
    '[]',
    'null',
    '7',
  ]) {
    expect(await refused(body), String(body).slice(0, 40)).toMatchObject({
      status: 400,
      code: 'bad_request',
    });
  }
  expect(await refused('{}', { 'content-type': 'text/plain' })).toMatchObject({ status: 415 });
  expect((await get(board(), '/healthz')).status).toBe(200);
});

test('§1 unknown fields are ignored over HTTP too; a key that would poison objects is not', async () => {
  const path = '/v1/tools/calculation.eval/invoke';
  const known = { run_id: 'r', args: { expression: '6*7' }, wait_ms: 5_000 };
  const answer = await post(board(), path, { ...known, later: { x: [1] }, constructor: 1 });
  expect(recordOf(answer).status).toBe('SUCCEEDED');
  for (const key of ['__proto__', '\\u005f_proto__']) {
    const body = `{"run_id":"run_poison","args":{"expression":"1","${key}":{"admin":true}}}`;
    expect(refusalOf(await ask(board(), 'POST', path, { body }))).toMatchObject({
      status: 400,
      code: 'bad_request',
    });
  }
  expect(await idsOf('run_id=run_poison')).toEqual([]);
});

test('[HT13] §6 a record has Unix seconds, and null for what is not yet', async ({ connect }) => {
  const client = await connect.client(board(), { tools: ['timed'] });
  const id = await invoke(board(), 'timed');
  await client.request();
  const open = await readCall(board(), id);
  expect(open).toMatchObject({ result: null, error: null, completed_at: null, late_result: null });
  expect(Math.abs(open.created_at - Date.now() / 1_000)).toBeLessThan(60);
  client.succeed(id, null);
  await client.next('result_acknowledged');
  const done = await readCall(board(), id);
  expect(done).toMatchObject({ status: 'SUCCEEDED', result: null, phase: null, attempt: 1 });
  const { queued_at, offered_at, started_at, completed_at } = done.timings;
  const times = [done.created_at, queued_at, offered_at, started_at, completed_at];
  expect(times).toEqual(times.toSorted((a, b) => Number(a) - Number(b)));
});
