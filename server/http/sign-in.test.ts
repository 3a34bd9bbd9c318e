import { expect, test } from 'vitest';
import { startTestServer, type TestServer, TOKENS } from './testing/start-test-server.ts';

const visitor = { token: null };

test('[HT19] the token makes a session, which lets in from our own page', async () => {
  const server = await startTestServer();
  const cookie = await signIn(server);
  expect((await server.get('/v1/tools', { token: null, headers: { cookie } })).status).toBe(200);
  const body = { run_id: 'r', args: {} };
  const foreign = await server.post('/v1/tools/echo/invoke', body, {
    token: null,
    headers: { cookie },
  });
  expect(foreign).toMatchObject({ status: 403, json: { error: { code: 'origin_not_allowed' } } });
  const headers = { cookie, origin: `http://127.0.0.1:${server.port}` };
  const own = await server.post('/v1/tools/echo/invoke', body, { token: null, headers });
  expect(own.status).toBe(202);
});

test('[HT19] beyond the limit nobody signs in from there, and Retry-After says how long', async () => {
  const server = await startTestServer({ allowedAttempts: 2 });
  const attempt = (token: string) => server.post('/auth/sign-in', { token }, visitor);
  expect((await attempt('wrong-1')).json.error.code).toBe('unauthenticated');
  expect((await server.get('/v1/tools', { token: 'wrong-2' })).status).toBe(401);
  for (const token of ['wrong-3', TOKENS.operator]) {
    const refused = await attempt(token);
    expect(refused).toMatchObject({ status: 429, json: { error: { code: 'rate_limited' } } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  }
  expect((await server.get('/v1/tools')).status).toBe(200);
});

test('[HT20] a link signs in once, then leads back to the sign-in page', async () => {
  const server = await startTestServer();
  const link = server.signInCodes.make();
  expect((await server.ask('HEAD', link, visitor)).status).toBe(405);
  const first = await server.get(link, visitor);
  expect(first).toMatchObject({ status: 303, headers: { location: '/' } });
  const cookie = String(first.headers['set-cookie']).split(';')[0] ?? '';
  expect((await server.get('/v1/tools', { token: null, headers: { cookie } })).status).toBe(200);
  const second = await server.get(link, visitor);
  expect(second).toMatchObject({ status: 303, headers: { location: '/sign-in?expired=1' } });
  expect(second.headers['set-cookie']).toBeUndefined();
});

test('[HT21] signing out ends the session', async () => {
  const server = await startTestServer();
  const headers = { cookie: await signIn(server), origin: `http://127.0.0.1:${server.port}` };
  const out = await server.post('/auth/sign-out', {}, { token: null, headers });
  expect(out.status).toBe(200);
  expect(String(out.headers['set-cookie'])).toMatch(/^callboard_session=; Max-Age=0/);
  expect((await server.get('/v1/tools', { token: null, headers })).status).toBe(401);
  expect((await server.post('/auth/sign-out', {})).headers['set-cookie']).toBeUndefined();
});

async function signIn(server: TestServer): Promise<string> {
  const answer = await server.post('/auth/sign-in', { token: TOKENS.operator }, visitor);
  expect(answer).toMatchObject({ status: 200, json: { ok: true } });
  return String(answer.headers['set-cookie']).split(';')[0] ?? '';
}
