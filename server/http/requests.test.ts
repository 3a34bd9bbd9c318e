import { describe, expect, test } from 'vitest';
import { BlobDamagedError } from '../blobs/disk-blob-store.ts';
import {
  BadCursorError,
  RowDamagedError,
  StoreBusyError,
  StoreFailedError,
} from '../store/store-errors.ts';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

const INVOKE = '/v1/tools/echo/invoke';
const wanted = { run_id: 'run_a', args: {} };

describe('who is let in', () => {
  test('[HT22] T12: a token in a URL is not a credential', async () => {
    const server = await startTestServer();
    for (const path of ['/v1/tools?token=', '/v1/tools?access_token=', '/v1/tools#']) {
      const answer = await server.get(path + TOKENS.operator, { token: null });
      expect(answer.status).toBe(401);
    }
  });
});

describe('what makes no sense', () => {
  test.each([
    '//',
    '*',
    'http://a:99999/',
    'http://127.0.0.1/v1/tools',
    'http://evil.example/v1/tools',
    '/%E0%A4%A',
    '/v1/../x',
    '/v1/%2e%2e/x',
    '/a%2fb',
    '/\\x',
    'x',
  ])('[HT3] T140: the target %s is a 400', async (target) => {
    const server = await startTestServer();
    const head = `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n`;
    expect(await server.raw(`${head}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /);
    expect((await server.get('/healthz', { token: null })).status).toBe(200);
  });

  test.each(['arguments', 'params', 'input'])(
    '[HT250] %s where args is meant is a 400 that names it, and makes no call',
    async (name) => {
      const server = await startTestServer();
      const body = { run_id: 'run_a', [name]: { amount: 5 } };
      for (const path of [INVOKE, '/v1/tool_calls/tc_1/retry']) {
        const { status, json } = await server.post(path, body);
        expect([status, json.error.code]).toEqual([400, 'bad_request']);
        expect(json.error.details).toMatchObject([
          { path: name, problem: expect.stringContaining('"args"') },
        ]);
        expect((await server.post(path, { ...body, args: {} })).status).toBeLessThan(300);
      }
    },
  );

  test.each([
    ['tool_calls?tool_name=pay', 'tool_name', 'tool'],
    ['tool_calls/tc_1/events?since=3', 'since', 'after'],
    ['tools?tool=pay', 'tool', 'name'],
    ['runs?page=2', 'page', 'cursor'],
    ['runs/run_1/model_turns?offset=2', 'offset', 'after'],
    ['approvals?run=run_1', 'run', 'cursor'],
  ])('[HT250] /v1/%s is a 400 that names parameters of the list', async (path, wrong, right) => {
    const { status, json } = await (await startTestServer()).get(`/v1/${path}`);
    expect([status, json.error.code]).toEqual([400, 'bad_request']);
    expect(json.error.message).toMatch(new RegExp(`"${wrong}"; its keys are .*\\b${right}\\b`));
  });

  test('[HT5] a body of another type is 415', async () => {
    const server = await startTestServer();
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx']) {
      const headers = { 'content-type': type };
      expect((await server.post(INVOKE, wanted, { headers })).status, type).toBe(415);
    }
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect((await server.post(INVOKE, wanted, { headers })).status).toBe(202);
  });
});

describe('errors', () => {
  test('[HT6] a defect is a 500 that reveals nothing, and is logged', async () => {
    const server = await startTestServer();
    const defect = new Error('the secret is 7f3a');
    server.calls.fake.onInvoke = () => {
      throw defect;
    };
    const answer = await server.post(INVOKE, wanted);
    expect(answer).toMatchObject({ status: 500, json: { error: { code: 'internal' } } });
    expect(answer.text).not.toContain('7f3a');
    expect(server.logged).toEqual([defect]);
  });

  test.each([
    [new BadCursorError('x'), 400, 'bad_request'],
    [new StoreFailedError('x'), 503, 'store_failed'],
    [Object.assign(new Error('x'), { code: 'ENOSPC' }), 503, 'store_failed'],
    [new RowDamagedError('tool_calls', 'tc_1'), 500, 'store_damaged'],
    [new BlobDamagedError('x'), 500, 'store_damaged'],
  ])('[HT4] %s has its own code', async (error, status, code) => {
    const server = await startTestServer();
    server.calls.fake.onInvoke = () => {
      throw error;
    };
    expect(await server.post(INVOKE, wanted)).toMatchObject({ status, json: { error: { code } } });
  });

  test('[HT46] a list that is not read in time is to be asked for again, and is not a defect', async () => {
    const server = await startTestServer();
    server.calls.fake.onList = () => {
      throw new StoreBusyError('the query was not answered within 5000 ms');
    };
    const answer = await server.get('/v1/tool_calls');
    expect(answer).toMatchObject({ status: 429, json: { error: { code: 'rate_limited' } } });
    expect(answer.headers['retry-after']).toBe('5');
    expect(server.logged).toEqual([]);
  });
});

describe('public routes', () => {
  test('[TM5] requests are counted by the pattern of their path and their status', async () => {
    const answered: [string, number][] = [];
    const server = await startTestServer({
      deps: { answered: (route, status) => void answered.push([route, status]) },
    });
    await server.get('/v1/runs/one-of-many');
    await server.get('/healthz', { token: null });
    await server.get('/v1/nowhere-to-be-found');
    await expect
      .poll(() => answered)
      .toEqual([
        ['/v1/runs/:id', 404],
        ['/healthz', 200],
        ['*', 404],
      ]);
  });

  test('T144: no cache keeps an answer', async () => {
    const server = await startTestServer();
    const { headers } = await server.post(INVOKE, wanted);
    expect(headers['cache-control']).toBe('no-store');
  });

  test('[HT32] an offer of HTTP/2 is answered as the request that it is', async () => {
    const server = await startTestServer();
    const answer = await server.get('/healthz', {
      headers: { connection: 'Upgrade', upgrade: 'h2c' },
    });
    expect(answer.status).toBe(200);
  });
});
