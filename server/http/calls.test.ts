import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { toRecord } from '#lib/call/view';
import { callRecord, createFakeClients, done } from './testing/fake-services.ts';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

const INVOKE = '/v1/tools/echo/invoke';

describe('invoke', () => {
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

  test('[HT15] a program is told of the tools of its allow-list alone', async () => {
    const server = await startTestServer();
    const made = await server.tokens.create(
      { kind: 'agent', name: 'few', tools: ['abs*', 'absent'] },
      'x',
    );
    const { json } = await server.get('/api/tools', { token: made.secret });
    expect(json.tools.map((tool: { name: string }) => tool.name)).toEqual(['absent']);
  });
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
});
