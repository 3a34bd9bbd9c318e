import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { InvokeRefusal } from '#lib/call/call-outcome';
import { toRecord } from '#lib/call/to-record';
import { FIRST_OPERATOR } from '../auth/principal.ts';
import { callRecord, createFakeClients, done } from './testing/fake-services.ts';
import { startTestServer, type TestServer, TOKENS } from './testing/start-test-server.ts';

const INVOKE = '/v1/tools/echo/invoke';

describe('invoke', () => {
  test('[HT10] T144: is passed on and answered 202', async () => {
    const server = await startTestServer();
    const body = { run_id: 'run_a', args: 'any JSON', client: 'client_1', timeout_ms: 400 };
    const headers = { 'idempotency-key': 'k-1' };
    const answer = await server.post('/v1/tools/echo%40client_1/invoke', body, { headers });
    expect(answer.status).toBe(202);
    expect(answer.json).toMatchObject({ tool_call_id: 'tc_1', status: 'pending' });
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(server.calls.fake.asked).toEqual([
      {
        what: 'invoke',
        args: [
          {
            principal: { ...FIRST_OPERATOR, address: '127.0.0.1' },
            tool: 'echo@client_1',
            runId: 'run_a',
            args: 'any JSON',
            clientId: 'client_1',
            timeoutMs: 400,
            idempotencyKey: 'k-1',
          },
        ],
      },
    ]);
  });

  test('[TM10] the header traceparent goes with the call, and one that is not valid is ignored', async () => {
    const server = await startTestServer();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    for (const headers of [{ traceparent }, { traceparent: 'nonsense' }])
      await server.post(INVOKE, { run_id: 'r' }, { headers });
    const [valid, other] = server.calls.fake.asked.map(({ args }) => args[0]);
    expect(valid).toMatchObject({ traceparent });
    expect(other).not.toHaveProperty('traceparent');
  });

  test('[TR21] a tool is called by its own name, in whatever case that was written', async () => {
    const server = await startTestServer();
    expect((await server.post('/v1/tools/ECHO/invoke', { run_id: 'r' })).status).toBe(202);
    expect(server.calls.fake.asked[0]?.args[0]).toMatchObject({ tool: 'echo' });
  });

  test('[HT10] missing arguments are none', async () => {
    const server = await startTestServer();
    expect((await server.post(INVOKE, { run_id: 'r' })).status).toBe(202);
    expect(server.calls.fake.asked[0]?.args[0]).toMatchObject({ args: {} });
  });

  test('[HT11] with wait_ms, not final in time: 202; and no wait is over two minutes', async () => {
    const server = await startTestServer();
    const answer = await server.post(INVOKE, { run_id: 'run_a', args: {}, wait_ms: 999_000 });
    expect(answer).toMatchObject({ status: 202, json: { status: 'pending' } });
    expect(server.calls.fake.asked.at(-1)).toEqual({ what: 'wait', args: ['tc_1', 120_000] });
  });

  test.each<[InvokeRefusal['code'], number, string]>([
    ['tool_not_found', 404, 'tool_not_found'],
    ['permission_denied', 403, 'permission_denied'],
    ['invalid_args', 422, 'invalid_args'],
    ['no_provider', 503, 'no_provider'],
    ['conflict_idempotency', 422, 'conflict'],
    ['shutting_down', 503, 'shutting_down'],
    ['store_failed', 503, 'store_failed'],
  ])('[HT12] the refusal %s is %i %s', async (code, status, shown) => {
    const server = await startTestServer();
    const details = [{ path: 'flag', problem: 'is missing' }];
    server.calls.fake.outcome = { ok: false, code, message: 'flag is missing', details };
    const answer = await server.post(INVOKE, { run_id: 'r' });
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ error: { code: shown, message: 'flag is missing', details } });
  });

  test('[HT14] a wait ends when the caller hangs up', async () => {
    const server = await startTestServer();
    const waiting = Promise.withResolvers<AbortSignal>();
    server.calls.fake.onWait = async (_id, signal) => {
      if (!signal) throw new Error('no signal');
      waiting.resolve(signal);
      await once(signal, 'abort');
      return callRecord();
    };
    const going = request({
      port: server.port,
      host: '127.0.0.1',
      method: 'POST',
      path: INVOKE,
      headers: { authorization: `Bearer ${TOKENS.operator}` },
    });
    going.on('error', () => {});
    going.end(JSON.stringify({ run_id: 'r', wait_ms: 20_000 }));
    const signal = await waiting.promise;
    expect(signal.aborted).toBe(false);
    going.destroy();
    await once(signal, 'abort');
  });
});

describe('records', () => {
  test('[HT4] an unknown call is call_not_found', async () => {
    const server = await startTestServer();
    for (const path of ['/v1/tool_calls/tc_x', '/v1/tool_calls/tc_x?wait_ms=5']) {
      const answer = await server.get(path);
      expect(answer).toMatchObject({ status: 404, json: { error: { code: 'call_not_found' } } });
    }
    expect((await server.get('/v1/runs/run_x')).json.error.code).toBe('run_not_found');
    expect((await server.get('/v1/blobs/blob_x')).json.error.code).toBe('blob_not_found');
  });

  test('[HT4] a call that was deleted for its age says so, to those too who could not have seen it', async () => {
    const server = await startTestServer();
    for (const path of ['/v1/tool_calls/tc_old_1', '/v1/tool_calls/tc_old_1/events']) {
      const answer = await server.get(path);
      expect(answer).toMatchObject({
        status: 404,
        json: { error: { code: 'call_deleted', message: expect.stringContaining('KEEP_DAYS') } },
      });
    }
  });

  test('[HT34] a list has previews, the whole of what is included, and pages of 4 MiB', async () => {
    const text = 'x'.repeat(900_000);
    const args = { text };
    const server = await startTestServer();
    const list = async (query: string) => (await server.get(`/v1/tool_calls${query}`)).json;
    const calls = Array.from({ length: 12 }, (_, n) =>
      done({ id: `tc_${n + 1}`, args, result: text }),
    );
    for (const call of calls) server.calls.fake.records.set(call.id, call);
    const { tool_calls: short } = await list('');
    // Of what is sent 4 MiB, of what is read 16 MiB.
    expect(short).toHaveLength(9);
    expect(short[0]).toMatchObject({
      truncated: true,
      args_bytes: 900_011,
      result_bytes: 900_000,
      result: expect.stringMatching(/^x{2000,2048}$/),
      args: { text: expect.stringMatching(/^x{2000,2048}…$/) },
    });
    expect((await list('?include=result')).tool_calls).toHaveLength(4);
    const { tool_calls: whole } = await list('?include=result,args');
    expect(whole).toHaveLength(2);
    expect(whole[0]).toMatchObject({ args, result: text });
    expect((await server.get('/v1/tool_calls?include=all')).status).toBe(400);

    const huge = done({ result: text.repeat(9), display: { text } });
    server.calls.fake.records.clear();
    server.calls.fake.records.set(huge.id, huge);
    server.calls.fake.records.set('tc_2', { ...huge, id: 'tc_2' });
    const alone = await list('?include=result');
    expect(alone.tool_calls).toMatchObject([{ result: huge.result, display: { text } }]);
  });

  test('[HT34] a long record is the same JSON as it would be at once', async () => {
    const server = await startTestServer();
    const text = '"x\\'.repeat(20_000);
    const results = [{ text }, text, [text, 'é…🙂'], { '…': text, '🙂': null }];
    for (const result of results) {
      const call = done({ args: { text: `${text}…` }, result, display: undefined });
      server.calls.fake.records.set(call.id, call);
      const { json } = await server.get(`/v1/tool_calls/${call.id}`);
      expect(json).toEqual(JSON.parse(JSON.stringify(toRecord(call))));
    }
  });

  test('[HT49] requests to models come by pages, of a message too, and only of a run', async () => {
    const server = await startTestServer();
    const turns = async (query: string) => {
      const { json } = await server.get(`/v1/runs/run_a/model_turns${query}`);
      const [{ number, message_id }] = json.model_turns;
      return [number, message_id, json.next_after];
    };
    expect(await turns('')).toEqual([1, 'msg_1', 1]);
    expect(await turns('?after=1&message_id=msg_x')).toEqual([2, 'msg_x', null]);
    const missing = await server.get('/v1/runs/run_x/model_turns');
    expect(missing).toMatchObject({ status: 404, json: { error: { code: 'run_not_found' } } });
    for (const query of ['?after=-1', '?after=x', '?limit=0', `?message_id=${'m'.repeat(129)}`]) {
      expect((await server.get(`/v1/runs/run_a/model_turns${query}`)).status, query).toBe(400);
    }
  });

  test('[HT50] what a model is sent of a call has its text, and the requests that had it', async () => {
    const server = await withCalls(done({ result: 'x'.repeat(40_000), runId: 'run_a' }));
    const { json } = await server.get('/v1/tool_calls/tc_1/model_output');
    expect(json).toMatchObject({
      ...{ tool_call_id: 'tc_1', status: 'SUCCEEDED', cut: true, images: [], rendering: 8 },
      sent: [{ number: 1, turn: 1, step: 1, model: 'openai:gpt-5', bytes: 4 }],
    });
    expect(json.bytes).toBe(Buffer.byteLength(json.text));
    // Within the bound that held when it was sent last.
    expect(json.bytes).toBeLessThanOrEqual(20_000);
    expect(json.bytes).toBeGreaterThan(19_000);
    expect(json.sha256).toBe(createHash('sha256').update(json.text).digest('hex'));
    expect(json.sent[0].tool_call_id).toBeUndefined();
  });

  test('[HT15] a program is told of the tools of its allow-list alone', async () => {
    const server = await startTestServer();
    const made = await server.tokens.create(
      { kind: 'agent', name: 'few', tools: ['abs*', 'absent'] },
      'x',
    );
    if (!made.ok) throw new Error(made.message);
    const { json } = await server.get('/api/tools', { token: made.secret });
    expect(json.tools.map((tool: { name: string }) => tool.name)).toEqual(['absent']);
  });

  test('[HT15] callable tools and all tools', async () => {
    const server = await startTestServer();
    const names = async (path: string) =>
      (await server.get(path)).json.tools.map((tool: { name: string }) => tool.name);
    expect(await names('/v1/tools')).toEqual(['echo']);
    expect(await names('/api/tools')).toEqual(['echo', 'absent']);
    expect((await server.get('/v1/models')).json).toEqual({ models: [] });
  });
});

describe('actions', () => {
  test('[HT12] what has ended is 409, what is not there 404', async () => {
    const server = await withCalls(done());
    for (const action of ['cancel', 'retry']) {
      const ended = await server.post(`/v1/tool_calls/tc_1/${action}`);
      expect(ended).toMatchObject({ status: 409, json: { error: { code: 'already_final' } } });
      const missing = await server.post(`/v1/tool_calls/tc_x/${action}`);
      expect(missing).toMatchObject({ status: 404, json: { error: { code: 'call_not_found' } } });
    }
    expect((await server.post('/v1/tool_calls/tc_x/answer', { output: 1 })).status).toBe(404);
  });

  test('[HT16] an answer without an output is refused with what would be right', async () => {
    const server = await withCalls(done());
    const { json } = await server.post('/v1/tool_calls/tc_1/answer', {});
    expect(json.error.message).toMatch(/: output: must be given; any JSON will do$/);
  });

  test('[HT12] a retry takes an Idempotency-Key, of the same length as that of an invoke', async () => {
    const server = await withCalls(done());
    const retry = (key: string) =>
      server.post('/v1/tool_calls/tc_1/retry', {}, { headers: { 'idempotency-key': key } });
    await retry('k-1');
    expect(server.calls.fake.asked.at(-1)).toMatchObject({
      what: 'retry',
      args: ['tc_1', { kind: 'operator' }, { idempotencyKey: 'k-1' }],
    });
    expect((await retry('k'.repeat(256))).json.error.message).toMatch('it takes 1 to 255');
  });
});

describe('scopes', () => {
  test('[HT63] an agent has the calls of its own runs alone, and others are as if not there', async () => {
    const own = callRecord({ ownerToken: 'tok_helper', toolName: 'not in its list' });
    const server = await withCalls(own, callRecord({ id: 'tc_2', ownerToken: 'tok_other' }));
    const agent = { token: TOKENS.agent };
    expect((await server.get('/v1/tool_calls/tc_1', agent)).status).toBe(200);
    expect((await server.get('/v1/tool_calls/tc_2', agent)).json.error.code).toBe('call_not_found');
    expect((await server.get('/v1/tool_calls/tc_2/model_output', agent)).status).toBe(404);
    expect((await server.post('/v1/tool_calls/tc_2/cancel', {}, agent)).status).toBe(404);
    const [foreign, missing] = [
      await server.get('/v1/tool_calls/tc_2', agent),
      await server.get('/v1/tool_calls/tc_3', agent),
    ];
    expect(foreign.text).toBe(missing.text.replace('tc_3', 'tc_2'));
    await server.get('/v1/tool_calls', agent);
    await server.get('/v1/tool_calls');
    const lists = server.calls.fake.asked.filter(({ what }) => what === 'list');
    expect(lists.map(({ args: [query] }) => Reflect.get(Object(query), 'ownerToken'))).toEqual([
      'tok_helper',
      undefined,
    ]);
  });

  test('[HT17] an agent neither approves nor answers', async () => {
    const server = await withCalls(callRecord());
    const agent = { token: TOKENS.agent };
    const refused = { status: 403, json: { error: { code: 'permission_denied' } } };
    const approve = server.post('/v1/tool_calls/tc_1/approval', { decision: 'yes' }, agent);
    expect(await approve).toMatchObject(refused);
    const answer = server.post('/v1/tool_calls/tc_1/answer', { output: 1 }, agent);
    expect(await answer).toMatchObject(refused);
    expect(server.calls.fake.asked).toEqual([]);
  });

  test('[HT18] a device speaks for its own client and nothing else', async () => {
    const server = await startTestServer();
    const device = { token: TOKENS.device };
    const register = (client_id: string, token = device) =>
      server.post('/internal/tools/register', { client_id, tools: [] }, token);
    expect((await register('client_1')).status).toBe(200);
    expect((await register('client_2')).status).toBe(403);
    expect((await server.get('/internal/clients/client_2/requests', device)).status).toBe(403);
    expect((await register('client_1', { token: TOKENS.agent })).status).toBe(403);
    for (const path of ['/v1/tools', '/v1/tool_calls/tc_1', '/v1/runs', '/api/tools', '/metrics']) {
      expect((await server.get(path, device)).status, path).toBe(403);
    }
    expect(server.clients.asked).toHaveLength(1);
  });
});

describe('an id that no path can address', () => {
  test.each(['.', '..', '', 'a/b', 'a\\b', 'a\u0000b', 'a\nb', 'a\ud800', 'x'.repeat(129)])(
    '[HT45] is refused when it is given: %j',
    async (id) => {
      const server = await startTestServer();
      const refusals = [
        [await server.post(INVOKE, { run_id: id, args: {} }), 'run_id'],
        [await server.post('/internal/tools/register', { client_id: id, tools: [] }), 'client_id'],
      ] as const;
      for (const [answer, path] of refusals) {
        expect(answer).toMatchObject({ status: 400, json: { error: { code: 'bad_request' } } });
        expect(answer.json).toMatchObject({ error: { details: [{ path }] } });
      }
      expect(server.clients.asked).toEqual([]);
    },
  );
});

describe('clients without a socket', () => {
  test('[UN3] registrations whose tools wait to be checked are of what may come in at a time', async () => {
    const { service } = createFakeClients();
    const checked = Promise.withResolvers<void>();
    let waiting = 0;
    const register: typeof service.register = async (principal, body) => {
      waiting += 1;
      await checked.promise;
      return service.register(principal, body);
    };
    const server = await startTestServer({ deps: { clients: { ...service, register } } });
    const post = (bytes: number) =>
      server.post('/internal/tools/register', { client_id: 'c', tools: ['x'.repeat(bytes)] });
    const posted: ReturnType<typeof post>[] = [];
    for (let count = 1; count <= 8; count += 1) {
      posted.push(post(1_000_000));
      await expect.poll(() => waiting).toBe(count);
    }
    for (let more = 0; more < 4; more += 1) posted.push(post(1_000_000));
    // Small ones are read all the same.
    for (let count = 9; count <= 20; count += 1) {
      posted.push(post(10));
      await expect.poll(() => waiting).toBe(count);
    }
    checked.resolve();
    const answers = await Promise.all(posted);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('[HT28] an error may be words or an object', async () => {
    const server = await startTestServer();
    for (const error of ['no such file', { message: 'no such file', more: 1 }]) {
      await server.post('/internal/tool_calls/tc_1/submit', {
        status: 'FAILED',
        result: null,
        error,
      });
      const [, , body] = server.clients.asked.at(-1) ?? [];
      expect(body).toEqual({ status: 'FAILED', result: null, error: { message: 'no such file' } });
    }
  });

  test('[HT28] a failure without words that make sense is a failure all the same', async () => {
    const server = await startTestServer();
    for (const [error, message] of [
      [undefined, undefined],
      [null, undefined],
      ['', ''],
      [7, '7'],
      [{ reason: 'dry' }, '{"reason":"dry"}'],
      [{ message: 'dry', code: 7 }, 'dry'],
    ]) {
      const body = { status: 'FAILED', error };
      expect((await server.post('/internal/tool_calls/tc_1/submit', body)).status).toBe(200);
      const [, , asked] = server.clients.asked.at(-1) ?? [];
      const expected = message === undefined ? null : { message };
      expect(asked).toEqual({ status: 'FAILED', error: expected });
    }
  });
});

async function withCalls(...calls: Parameters<typeof callRecord>[0][]): Promise<TestServer> {
  const server = await startTestServer();
  for (const call of calls) {
    const record = callRecord(call);
    server.calls.fake.records.set(record.id, record);
  }
  return server;
}

test('[PO11] a call beyond a limit of the policy is 429 with the seconds to wait', async () => {
  const server = await startTestServer();
  server.calls.fake.outcome = {
    ...{ ok: false, code: 'rate_limited', message: 'not now', retryAfter: 30 },
  };
  const body = { run_id: 'run_a', args: {} };
  const { status, json, headers } = await server.post('/v1/tools/echo/invoke', body);
  expect([status, json.error.code, headers['retry-after']]).toEqual([429, 'rate_limited', '30']);
});
