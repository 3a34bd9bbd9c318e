import { callEventsPageSchema, requestsAnswerSchema } from '../../lib/protocol/rest.ts';
import { get, post, refusalOf } from './kit/ask.ts';
import { invoke, readCall } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';

const board = sharedCallboard();
const tool = (name: string) => ({ name, schema: { type: 'object' }, timeout_ms: 5_000 });
const register = (client_id: string, ...tools: unknown[]) =>
  post(board(), '/internal/tools/register', { client_id, tools });
const requests = async (client_id: string, waitMs = 0) => {
  const path = `/internal/clients/${client_id}/requests?wait_ms=${waitMs}`;
  return requestsAnswerSchema.parse((await get(board(), path)).body).requests;
};
const submit = (id: string, body: object) =>
  post(board(), `/internal/tool_calls/${id}/submit`, body);

test('T49: §7 tools are judged one by one, and the good ones are kept', async () => {
  const answer = await register('judge', tool('judged'), { name: '' }, tool('calculation.eval'));
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ ok: true, registered_count: 1 });
  const { rejected } = answer.body as { rejected: { name: string; message: string }[] };
  expect(rejected.map(({ name }) => name)).toEqual(['', 'calculation.eval']);
  for (const { message } of rejected) expect(message.length).toBeGreaterThan(10);
});

test('§7 a tool with a schema that cannot be checked whole is registered, and what is left out is listed', async () => {
  const schema = { type: 'object', properties: { a: { $ref: 'https://schemas.test/a' } } };
  const { body } = await register('subset', { ...tool('outside'), schema }, tool('in'));
  expect(body).toMatchObject({ registered_count: 2 });
  const listed = (await get(board(), '/v1/tools')).body as { tools: { name: string }[] };
  const byName = new Map(listed.tools.map((one) => [one.name, one]));
  expect(byName.get('outside')).toMatchObject({ unchecked: ['#/properties/a/$ref'] });
  expect(byName.get('in')).not.toHaveProperty('unchecked');
});

test('§7 what came while no client polled is there for the next poll, once', async () => {
  await register('patient', tool('patience'));
  const id = await invoke(board(), 'patience', { n: 1 });
  const [request] = await requests('patient');
  expect(request).toMatchObject({ id, name: 'patience', args: { n: 1 }, attempt: 1 });
  expect(await requests('patient')).toEqual([]);
  const answer = await submit(id, { status: 'SUCCEEDED', result: [1] });
  expect(answer.body).toEqual({ ok: true, tool_call_id: id, status: 'SUCCEEDED' });
  const { events } = callEventsPageSchema.parse(
    (await get(board(), `/v1/tool_calls/${id}/events`)).body,
  );
  const here = { token_id: null, address: expect.stringContaining('127.0.0.1') };
  expect(events.filter(({ via }) => via).map(({ type, via }) => [type, via])).toEqual(
    ['created', 'claimed', 'answered'].map((type) => [type, here]),
  );
});

test('§7 of two that ask at once the newer one is given what comes', async () => {
  await register('double', tool('doubled'));
  const older = requests('double', 20_000);
  const newer = requests('double', 20_000);
  const id = await Promise.race([
    older.then(() => invoke(board(), 'doubled')),
    newer.then(() => invoke(board(), 'doubled')),
  ]);
  const given = (await Promise.all([older, newer])).flat();
  expect(given.map((request) => request.id)).toEqual([id]);
});

test("§7 a client's own word for its error comes through, as on the socket", async () => {
  await register('failing', tool('fails_coded'));
  const id = await invoke(board(), 'fails_coded');
  await requests('failing');
  const error = { message: 'The disk is full', code: 'disk_full' };
  expect((await submit(id, { status: 'FAILED', error })).status).toBe(200);
  expect((await readCall(board(), id)).error).toMatchObject({
    code: 'tool_error',
    message: 'The disk is full',
    client_code: 'disk_full',
  });
});

test('§7 a call that was given to a socket, to the server or to no client cannot be submitted', async ({
  connect,
}) => {
  const client = await connect.client(board(), {
    hello: { client_id: 'sock' },
    tools: ['socketed'],
  });
  const id = await invoke(board(), 'socketed');
  await client.request();
  expect(refusalOf(await submit(id, { status: 'SUCCEEDED', result: 'forged' }))).toMatchObject({
    status: 403,
    code: 'permission_denied',
  });
  const own = await invoke(board(), 'calculation.eval', { expression: '1' });
  expect((await submit(own, { status: 'SUCCEEDED', result: 2 })).status).toBe(403);
  expect((await submit('tc_nowhere', { status: 'SUCCEEDED' })).status).toBe(404);
  expect((await readCall(board(), id)).status).toBe('RUNNING');
});

test('§7 a socket cannot pass for a client without one', async ({ connect }) => {
  await connect.client(board(), {
    hello: { client_id: 'poller-socket', instance_id: 'http:poller' },
    tools: ['poll_socket'],
  });
  await register('poller', tool('poll_http'));
  const id = await invoke(board(), 'poll_socket');
  expect((await submit(id, { status: 'SUCCEEDED', result: 1 })).status).toBe(403);
  const second = await invoke(board(), 'poll_http');
  expect((await requests('poller')).map((request) => request.id)).toEqual([second]);
});

test('§7 the same submission again is no error, another one is a conflict', async () => {
  await register('repeats', tool('repeated'));
  const id = await invoke(board(), 'repeated');
  await requests('repeats');
  const body = { status: 'SUCCEEDED', result: { n: 1 }, error: null };
  expect((await submit(id, body)).status).toBe(200);
  expect((await submit(id, body)).status).toBe(200);
  expect((await submit(id, { ...body, result: 2 })).status).toBe(409);
  expect((await readCall(board(), id)).result).toEqual({ n: 1 });
});

test('§7 a shape that is none is refused, and says where', async () => {
  for (const body of [
    {},
    { client_id: 'x' },
    { client_id: 7, tools: [] },
    { client_id: 'x', tools: {} },
    { client_id: 'x'.repeat(200), tools: [] },
  ]) {
    const refusal = refusalOf(await post(board(), '/internal/tools/register', body));
    expect(refusal, JSON.stringify(body)).toMatchObject({ status: 400, code: 'bad_request' });
    expect(refusal.details?.length).toBeGreaterThan(0);
  }
});
