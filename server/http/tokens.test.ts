import { request } from 'node:http';
import { expect, test } from 'vitest';
import { startTestServer, type TestServer, TOKENS } from './testing/start-test-server.ts';

const make = (server: TestServer, body: object, token: string = TOKENS.operator) =>
  server.post('/v1/tokens', body, { token });

async function made(server: TestServer, body: object): Promise<{ id: string; secret: string }> {
  const { status, json } = await make(server, body);
  expect(status).toBe(201);
  return json;
}

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
