import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';
import { createApi } from './http-client.ts';
import type { Received } from './send-request.ts';
import { createAccessApi } from './settings-api.ts';

interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body: string;
  /** Sent in place of the body, and then the line breaks. */
  cutAfter?: string;
}

/** A real server that notes what it was asked and always gives one answer. */
async function setup(reply: Reply) {
  const asked: { method: string | undefined; url: string | undefined; body: string }[] = [];
  const { origin, close } = await serveHttp(async (request, response) => {
    asked.push({ method: request.method, url: request.url, body: await text(request) });
    response.writeHead(reply.status ?? 200, reply.headers);
    if (reply.cutAfter === undefined) response.end(reply.body);
    else response.write(reply.cutAfter, () => response.destroy());
  });
  onTestFinished(close);
  return { asked, api: createApi({ fetch, baseUrl: origin }), baseUrl: origin, close };
}

test('an invoke names the tool in the path, encoded, and sends the rest in the body', async () => {
  const { api, asked } = await setup({ status: 202, body: '{"tool_call_id":"tc_1"}' });
  const args = { city: 'Oslo' };
  const answer = await api.invoke({ tool: 'a.b@c/d', runId: 'run_1', args, timeoutMs: 900 });
  expect(answer).toEqual({ ok: true, value: { tool_call_id: 'tc_1' } });
  expect(asked).toEqual([
    {
      method: 'POST',
      url: '/v1/tools/a.b%40c%2Fd/invoke',
      body: '{"run_id":"run_1","args":{"city":"Oslo"},"timeout_ms":900}',
    },
  ]);
});

test('what a person asks for names the client; what is done to a call does not', async () => {
  const { asked, baseUrl } = await setup({ body: '{}' });
  let id: string | null = null;
  const api = createApi({
    fetch,
    baseUrl,
    askingClient: async () => (id === null ? null : { clientId: id }),
  });
  await api.startRun({ input: 'hi' });
  id = 'tab_1';
  await api.startRun({ input: 'hi' });
  await api.sendMessage('run_1', { input: 'more' });
  await api.invoke({ tool: 't', runId: 'run_1', args: {} });
  await api.retryCall('tc_1');
  await api.cancelCall('tc_1');
  expect(asked.map(({ body }) => JSON.parse(body))).toEqual([
    { input: 'hi' },
    { input: 'hi', client_id: 'tab_1' },
    { input: 'more', client_id: 'tab_1' },
    { run_id: 'run_1', args: {}, client_id: 'tab_1' },
    { client_id: 'tab_1' },
    {},
  ]);
});

test('a refusal is a value with its code, message and details', async () => {
  const details = [{ path: '/city', problem: 'is missing' }];
  const body = JSON.stringify({ error: { code: 'invalid_args', message: 'No city.', details } });
  const { api } = await setup({ status: 422, body });
  expect(await api.retryCall('tc_1')).toEqual({
    ok: false,
    code: 'invalid_args',
    message: 'No city.',
    details,
    status: 422,
    retryAfter: null,
  });
});

test('a rate limit has the time of the next try', async () => {
  const body = '{"error":{"code":"rate_limited","message":"Too many."}}';
  const { api } = await setup({ status: 429, headers: { 'retry-after': '7' }, body });
  expect(await api.getRun('run_1')).toMatchObject({ code: 'rate_limited', retryAfter: 7 });
});

test('an answer that is not ours is a refusal without words, not a crash', async () => {
  const { api } = await setup({ status: 502, body: '<html>Bad gateway</html>' });
  expect(await api.listModels()).toMatchObject({
    ok: false,
    code: 'unexpected_answer',
    status: 502,
  });
});

test('a server that cannot be reached is a refusal with status 0', async () => {
  const { api, close } = await setup({ body: '{}' });
  await close();
  expect(await api.listTools()).toMatchObject({ ok: false, code: 'unreachable', status: 0 });
});

test('a record that is fetched reports how much of it has come, and how large it is', async () => {
  const body = JSON.stringify({ tool_call_id: 'tc_1', result: 'ö'.repeat(500_000) });
  const total = Buffer.byteLength(body);
  const { api } = await setup({ headers: { 'content-length': `${total}` }, body });
  const seen: Received[] = [];
  const answer = await api.getCall('tc_1', (received) => seen.push(received));
  expect(answer).toEqual({ ok: true, value: JSON.parse(body) });
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.at(-1)).toEqual({ received: total, total });
  const amounts = seen.map(({ received }) => received);
  expect(amounts).toEqual(amounts.toSorted((a, b) => a - b));
});

test('an answer that breaks off in the middle is a failure, and no rejection', async () => {
  const { api } = await setup({ headers: { 'content-length': '100' }, body: '', cutAfter: '{"a' });
  expect(await api.getCall('tc_1')).toMatchObject({ ok: false, code: 'unreachable', status: 0 });
  expect(await api.getCall('tc_1', () => {})).toMatchObject({ ok: false, code: 'unreachable' });
});

test('tokens are revoked by their id, and lists take what is given as their query', async () => {
  const { api, asked } = await setup({ body: '{}' });
  const access = createAccessApi(api.request);
  await access.revokeToken('tok/1');
  await access.listTokens();
  await access.listTokens('tok_9');
  await access.listAudit({ actor: 'operator:a&b', limit: 200 });
  expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'DELETE /v1/tokens/tok%2F1',
    'GET /v1/tokens',
    'GET /v1/tokens?cursor=tok_9',
    'GET /v1/audit?actor=operator%3Aa%26b&limit=200',
  ]);
});
