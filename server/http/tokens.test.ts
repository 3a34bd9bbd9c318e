import { request } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { CLOSE } from '#lib/protocol/server-messages';
import { callRecord } from './testing/fake-services.ts';
import { startTestServer, type TestServer, TOKENS } from './testing/start-test-server.ts';

const make = (server: TestServer, body: object, token: string = TOKENS.operator) =>
  server.post('/v1/tokens', body, { token });

async function made(server: TestServer, body: object): Promise<{ id: string; secret: string }> {
  const { status, json } = await make(server, body);
  expect(status).toBe(201);
  return json;
}

test('[HT62] an administrator makes a token, which lets in as what it is', async () => {
  const server = await startTestServer();
  const { secret, id, ...token } = (
    await make(server, { kind: 'agent', name: 'bot', tools: ['echo', 'file.*'] })
  ).json;
  expect(token).toMatchObject({
    ...{ kind: 'agent', name: 'bot', role: null, tools: ['echo', 'file.*'], built_in: false },
    ...{ created_by: 'operator', last_used_at: null, revoked_at: null },
  });
  expect((await server.get('/v1/tools', { token: secret })).status).toBe(200);
  expect((await server.get('/v1/tokens', { token: secret })).status).toBe(403);
  const invoked = await server.post(
    '/v1/tools/echo/invoke',
    { run_id: 'run_b', args: {} },
    { token: secret },
  );
  expect(invoked.status).toBe(202);
  expect(server.calls.fake.asked[0]?.args).toMatchObject([
    { principal: { kind: 'agent', name: 'bot', tokenId: id, tools: ['echo', 'file.*'] } },
  ]);
  const viewer = await made(server, { kind: 'operator', name: 'vera', role: 'viewer' });
  expect((await server.get('/v1/tool_calls', { token: viewer.secret })).status).toBe(200);
  const listed = await server.get('/v1/tokens');
  expect(listed.json.tokens.map(({ name }: { name: string }) => name)).toEqual([
    'operator',
    'vera',
    'bot',
  ]);
  expect(listed.text).not.toContain(secret);
});

test('[HT62] others neither make nor list nor revoke', async () => {
  const server = await startTestServer();
  const { id } = await made(server, { kind: 'agent', name: 'bot' });
  for (const token of [TOKENS.viewer, TOKENS.colleague, TOKENS.agent, TOKENS.device]) {
    expect((await make(server, { kind: 'agent', name: 'x' }, token)).status).toBe(403);
    expect((await server.get('/v1/tokens', { token })).status).toBe(403);
    expect((await server.ask('DELETE', `/v1/tokens/${id}`, { token })).status).toBe(403);
  }
  expect((await server.get('/v1/tokens')).json.tokens).toHaveLength(2);
});

test.each([
  {},
  { kind: 'device', name: 'x' },
  { kind: 'agent' },
  { kind: 'agent', name: '' },
  { kind: 'agent', name: 'a:b' },
  { kind: 'agent', name: 'a\u202eb' },
  { kind: 'agent', name: 'x'.repeat(65) },
  { kind: 'agent', name: 'x', tools: ['*'] },
  { kind: 'agent', name: 'x', tools: ['file*'] },
  { kind: 'agent', name: 'x', tools: 'echo' },
  { kind: 'agent', name: 'x', tools: Array.from({ length: 501 }, () => 'echo') },
  { kind: 'operator', name: 'x', role: 'root' },
])('[HT62] the body %j is a 400 and makes nothing', async (body) => {
  const server = await startTestServer();
  expect((await make(server, body)).status).toBe(400);
  expect((await server.get('/v1/tokens')).json.tokens).toHaveLength(1);
});

test('[HT62] a name that is taken is a conflict, the token of the first run stays', async () => {
  const server = await startTestServer();
  const { id } = await made(server, { kind: 'agent', name: 'bot' });
  expect(await make(server, { kind: 'agent', name: 'bot' })).toMatchObject({ status: 409 });
  const first = { kind: 'operator', name: 'operator', role: 'viewer' };
  expect(await make(server, first)).toMatchObject({ status: 409 });
  const remove = (one: string) => server.ask('DELETE', `/v1/tokens/${one}`);
  expect(await remove('first_run')).toMatchObject({ status: 409 });
  expect(await remove(id)).toMatchObject({ status: 200, json: { id, name: 'bot' } });
  expect(await remove(id)).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
  expect((await server.get('/v1/tokens')).status).toBe(200);
});

test('[HT62] the list comes by pages', async () => {
  const server = await startTestServer();
  for (const name of ['a', 'b', 'c']) await made(server, { kind: 'agent', name });
  const names = (json: { tokens: { name: string }[] }) => json.tokens.map(({ name }) => name);
  const first = (await server.get('/v1/tokens?limit=2')).json;
  const second = (await server.get(`/v1/tokens?limit=2&cursor=${first.next_cursor}`)).json;
  expect([...names(first), ...names(second)].toSorted()).toEqual(['a', 'b', 'c', 'operator']);
  expect(second.next_cursor).toBeNull();
});

/** What a page of ours, or a program, opens a socket with. */
function open({ port }: TestServer, path: string, token: string, protocols: string[] = []) {
  const headers = { authorization: `Bearer ${token}` };
  const ws = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { headers });
  const closed = new Promise<number>((resolve) => ws.on('close', resolve));
  return new Promise<{ ws: WebSocket; closed: Promise<number> }>((resolve, reject) => {
    ws.on('open', () => resolve({ ws, closed }));
    ws.on('error', reject);
  });
}

test('[AU33] [UG12] revoking a token closes its sockets within a second, and no others', async () => {
  const server = await startTestServer();
  const olga = await made(server, { kind: 'operator', name: 'olga' });
  const otto = await made(server, { kind: 'operator', name: 'otto' });
  const own = await Promise.all([
    open(server, '/ws/watch', olga.secret),
    open(server, '/ws/client', olga.secret),
  ]);
  const other = await open(server, '/ws/watch', otto.secret);
  const begin = performance.now();
  await server.ask('DELETE', `/v1/tokens/${olga.id}`);
  for (const { closed } of own) expect(await closed).toBe(CLOSE.unauthenticated);
  expect(performance.now() - begin).toBeLessThan(1_000);
  await expect(open(server, '/ws/watch', olga.secret)).rejects.toThrow('401');
  expect(other.ws.readyState).toBe(WebSocket.OPEN);
  other.ws.close();
});

test('[AU33] revoking ends the sign-ins of a token, and their sockets', async () => {
  const server = await startTestServer();
  const olga = await made(server, { kind: 'operator', name: 'olga', role: 'viewer' });
  const signedIn = await server.post('/auth/sign-in', { token: olga.secret }, { token: null });
  expect(signedIn.status).toBe(200);
  const key = String(signedIn.json.session_key);
  const headers = {
    cookie: String(signedIn.headers['set-cookie']).split(';')[0] ?? '',
    origin: `http://127.0.0.1:${server.port}`,
  };
  const withKey = { token: null, headers: { ...headers, 'x-callboard-session': key } };
  expect((await server.get('/v1/tools', withKey)).status).toBe(200);
  // The role is that of the token.
  expect((await server.post('/v1/runs', { input: 'hi' }, withKey)).status).toBe(403);
  expect((await server.get('/', { token: null, headers })).text).toBe('a page');
  const ws = new WebSocket(
    `ws://127.0.0.1:${server.port}/ws/watch`,
    ['callboard.v1', `session.${key}`],
    { headers },
  );
  await new Promise((resolve) => ws.on('open', resolve));
  const closed = new Promise((resolve) => ws.on('close', resolve));
  await server.ask('DELETE', `/v1/tokens/${olga.id}`);
  expect(await closed).toBe(CLOSE.unauthenticated);
  expect((await server.get('/v1/tools', withKey)).status).toBe(401);
  expect((await server.get('/', { token: null, headers })).status).toBe(303);
});

test('[AU33] revoking ends streams and held requests of a token', async () => {
  const server = await startTestServer();
  const bot = await made(server, { kind: 'operator', name: 'bot' });
  server.calls.fake.records.set('tc_1', callRecord());
  const held = Promise.withResolvers<void>();
  server.calls.fake.onWait = async (id, signal) => {
    held.resolve();
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    return server.calls.fake.records.get(id);
  };
  const streamed = Promise.withResolvers<void>();
  const ended = new Promise<void>((resolve, reject) => {
    const headers = { authorization: `Bearer ${bot.secret}` };
    const at = { host: '127.0.0.1', port: server.port, path: '/v1/runs/run_a/events', headers };
    const asking = request(at, (response) => {
      response.on('data', () => streamed.resolve());
      response.on('end', resolve);
    });
    asking.on('error', reject);
    asking.end();
  });
  const waiting = server.get('/v1/tool_calls/tc_1?wait_ms=30000', { token: bot.secret });
  const cut = expect(waiting).rejects.toThrow();
  await Promise.all([held.promise, streamed.promise]);
  await server.ask('DELETE', `/v1/tokens/${bot.id}`);
  await Promise.all([ended, cut]);
});

test('[HT19] the token of an agent does not sign in', async () => {
  const server = await startTestServer();
  const { secret } = await made(server, { kind: 'agent', name: 'bot' });
  const { status } = await server.post('/auth/sign-in', { token: secret }, { token: null });
  expect(status).toBe(401);
});

test.each([
  ['POST', '/v1/tokens', { kind: 'operator', name: 'evil', role: 'admin' }],
  ['POST', '/v1/tools/echo/invoke', { run_id: 'run_b', args: {} }],
] as const)(
  '[HT64] a %s of %s whose body comes after its token was revoked does nothing',
  async (method, path, body) => {
    const server = await startTestServer();
    const { id, secret } = await made(server, { kind: 'operator', name: 'mallory', role: 'admin' });
    const text = JSON.stringify(body);
    const late = request(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'content-length': text.length,
      },
    });
    const ending = new Promise((resolve) => {
      late.on('response', (response) => resolve(response.statusCode));
      late.on('error', () => resolve('cut'));
    });
    late.write(text.slice(0, 5));
    await expect.poll(async () => (await server.get('/v1/tokens')).text).toContain('mallory');
    await expect.poll(async () => lastUse(server, id)).not.toBeNull();
    await server.ask('DELETE', `/v1/tokens/${id}`);
    late.end(text.slice(5));
    expect(await ending).toBe('cut');
    expect((await server.get('/v1/tokens')).text).not.toContain('evil');
    expect(server.calls.fake.asked).toEqual([]);
  },
);

const lastUse = async (server: TestServer, id: string) => {
  const { tokens } = (await server.get('/v1/tokens')).json;
  return tokens.find((token: { id: string }) => token.id === id)?.last_used_at;
};
