import { expect, test } from 'vitest';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

const visitor = { token: null };

test('[HT19] wrong ones are counted, and the right one signs in all the same', async () => {
  const server = await startTestServer({ allowedAttempts: 2 });
  const attempt = (token: string) => server.post('/auth/sign-in', { token }, visitor);
  expect((await attempt('wrong-1')).json.error.code).toBe('unauthenticated');
  expect((await server.get('/v1/tools', { token: 'wrong-2' })).status).toBe(401);
  const refused = await attempt('wrong-3');
  expect(refused).toMatchObject({ status: 429, json: { error: { code: 'rate_limited' } } });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await attempt(TOKENS.operator)).status).toBe(200);
  const code = codeOf(server.signInCodes.make());
  expect((await server.post('/auth/sign-in', { code }, visitor)).status).toBe(200);
  expect((await server.get('/v1/tools')).status).toBe(200);
});

test('[HT56] of a body without a credential 4 KiB are taken', async () => {
  const server = await startTestServer();
  const refused = await server.post('/auth/sign-in', { token: 'x'.repeat(8_000) }, visitor);
  expect(refused).toMatchObject({ status: 413, json: { error: { code: 'too_large' } } });
});

const codeOf = (path: string): string => path.replace('/sign-in/', '');
