import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toCredentialProtocol } from '../../lib/protocol/subprotocols.ts';
import { get, post } from './kit/ask.ts';
import { finalCall, invoke } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { sendRaw } from './kit/raw-socket.ts';
import { askAsPage, cookieOf, openLink, sessionOf, signIn } from './kit/sign-in.ts';

const board = sharedCallboard();

test('§4 the page that a cookie alone may open shows no data', async () => {
  const call = await invoke(board(), 'calculation.eval', { expression: '13579+24680' });
  await finalCall(board(), call);
  const cookie = cookieOf(await signInAnswer()) ?? '';
  for (const path of ['/', '/tools', '/docs']) {
    const page = await get(board(), path, { token: null, headers: { cookie } });
    expect(page.status).toBe(200);
    for (const secret of [call, '13579', '38259', 'calculation.eval', board().token]) {
      expect(page.text, `${path} ${secret}`).not.toContain(secret);
    }
  }
});

test('§4 the key alone opens nothing, nor one with the cookie of another sign-in', async () => {
  const [mine, other] = [await signIn(board()), await signIn(board())];
  const headers = { 'x-callboard-session': mine.key, origin: board().url };
  expect((await get(board(), '/v1/tools', { token: null, headers })).status).toBe(401);
  const mixed = { cookie: other.cookie, key: mine.key };
  expect((await askAsPage(board(), 'GET', '/v1/tools', { session: mixed })).status).toBe(401);
  expect((await askAsPage(board(), 'GET', '/v1/tools', { session: mine })).status).toBe(200);
});

test('§4 two servers of one host do not sign each other out', async ({ startServer }) => {
  const neighbour = await startServer();
  const [here, there] = [await signInAnswer(), await signInAnswer(neighbour)].map(cookieOf);
  const [name, other] = [here, there].map((cookie) => cookie?.split('=')[0]);
  expect(name).not.toBe(other);
  await neighbour.stop();
  const again = await startServer({ dataDir: neighbour.dataDir, token: neighbour.token });
  expect(cookieOf(await signInAnswer(again))?.split('=')[0], 'kept over a restart').toBe(other);
});

test('§4 cookies that a neighbour planted do not sign out', async () => {
  const session = await signIn(board());
  const [name = ''] = session.cookie.split('=');
  const junk = ['x', 'A'.repeat(43), '%00', '"quoted"'].map((value) => `${name}=${value}`);
  const many = Array.from({ length: 12 }, (_, n) => `${name}=${String(n).padStart(43, 'B')}`);
  const planted = [
    `${junk.join('; ')}; ${session.cookie}`,
    `${session.cookie}; ${junk.join('; ')}`,
    `${many.join('; ')}; ${session.cookie}`,
    `callboard_session=x; ${name}x=1; x${name}=2; =; ;; ${name}; ${session.cookie}`,
  ];
  for (const cookie of planted) {
    const answer = await askAsPage(board(), 'GET', '/v1/tools', {
      session: { ...session, cookie },
    });
    expect(answer.status, cookie).toBe(200);
    const page = await get(board(), '/', { token: null, headers: { cookie } });
    expect(page.status, cookie).toBe(200);
  }
});

test('§4 a sign-in lasts seven days at most', async () => {
  const [, seconds] =
    /Max-Age=(\d+)/.exec(String((await signInAnswer()).headers['set-cookie'])) ?? [];
  expect(Number(seconds)).toBe(7 * 24 * 3_600);
});

test('§4 the page of a link gives no secret away, and the key stands in no log', async ({
  startServer,
}) => {
  const own = await startServer();
  const session = sessionOf(await openLink(own, own.signInUrl));
  await askAsPage(own, 'GET', '/v1/tools', { session });
  expect(own.log()).not.toContain(session.key);
  const page = await get(own, new URL(own.signInUrl).pathname, { token: null });
  expect(page.status).toBe(200);
  expect(page.headers['set-cookie']).toBeUndefined();
  expect(JSON.stringify(page.headers)).not.toContain('session_key');
});

test('§4 opening the page of a link does not count as an attempt, so that no other site can use it up', async ({
  startServer,
}) => {
  const own = await startServer();
  const foreign = [
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    {},
  ];
  for (let n = 0; n < 60; n += 1) {
    const headers = foreign[n % foreign.length] ?? {};
    await get(own, `/sign-in/wrong-${n}`, { token: null, headers });
  }
  const signingIn = await post(own, '/auth/sign-in', { token: own.token }, { token: null });
  expect(signingIn.status).toBe(200);
  expect((await openLink(own, own.signInUrl)).status).toBe(200);
});

test('§4 a request with two hosts is refused, and so is a target that names one', async () => {
  const { host } = new URL(board().url);
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  const rest = `Authorization: Bearer ${board().token}\r\n`;
  for (const more of [`${rest}Connection: close\r\n`, rest + upgrade]) {
    const path = more.includes('Upgrade') ? '/ws/watch' : '/v1/tools';
    for (const hosts of [
      `Host: ${host}\r\nHost: evil.example\r\n`,
      `Host: evil.example\r\nHost: ${host}\r\n`,
      `Host: ${host}\r\nhOST: ${host}\r\n`,
      `Host: ${host}, evil.example\r\n`,
      '',
    ]) {
      const answer = await sendRaw(board(), `GET ${path} HTTP/1.1\r\n${hosts}${more}\r\n`);
      expect(answer, hosts).toMatch(/^HTTP\/1\.1 (?:400|421) /);
    }
    for (const target of [
      `http://evil.example${path}`,
      `http://${host}${path}`,
      `//${host}${path}`,
    ]) {
      const answer = await sendRaw(
        board(),
        `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`,
      );
      expect(answer, target).toMatch(/^HTTP\/1\.1 400 /);
    }
  }
  const twice = `GET /v1/tools HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}\r\n${rest}\r\n`;
  expect(await sendRaw(board(), twice)).toMatch(/^HTTP\/1\.1 400 .*"code":"bad_request"/s);
});

test('§4 each token that the configuration takes signs in by header, subprotocol, form and file', async ({
  startServer,
  connect,
}) => {
  for (const token of [
    '+/=_-.~aZ09+/=_-.~aZ09',
    randomBytes(33).toString('base64'),
    '='.repeat(16),
  ]) {
    const own = await startServer({ token });
    expect((await get(own, '/v1/tools')).status, token).toBe(200);
    const protocols = ['callboard.v1', toCredentialProtocol('bearer', token)];
    const client = await connect.client(own, { token: null, protocols });
    expect(client.ws.protocol).toBe('callboard.v1');
    expect(sessionOf(await signInAnswer(own)).key).not.toBe('');
    await own.stop();
    await writeFile(join(own.dataDir, 'token'), `${token}\n`, { mode: 0o600 });
    const kept = await startServer({ dataDir: own.dataDir, env: { CALLBOARD_TOKEN: '' } });
    expect((await get(kept, '/v1/tools', { headers: bearer(token) })).status, token).toBe(200);
    await kept.stop();
  }
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const signInAnswer = (own = board()) =>
  post(own, '/auth/sign-in', { token: own.token }, { token: null });
