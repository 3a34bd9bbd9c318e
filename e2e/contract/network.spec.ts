import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Callboard } from '../start-callboard.ts';
import { get, post, refusalOf } from './kit/ask.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { runServer } from './kit/run-server.ts';

const board = sharedCallboard({ args: ['--lan'], env: { CALLBOARD_HOST: '' } });

/** By TLS, with the CA of that server alone. */
async function overTls(own: Callboard, path: string, ca: string): Promise<number> {
  const { port } = new URL(own.url);
  const asking = request({ host: '127.0.0.1', port, path, ca, agent: false });
  asking.end();
  const [response] = await once(asking, 'response');
  response.resume();
  return response.statusCode;
}

const caOf = (own: Callboard) => readFile(join(own.dataDir, 'tls', 'ca.crt'), 'utf8');

async function openSockets(own: Callboard, count: number): Promise<Socket[]> {
  const { port } = new URL(own.url);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      socket.resume();
      await once(socket, 'connect');
      return socket;
    }),
  );
}

const openOf = (sockets: readonly Socket[]) => sockets.filter(({ closed }) => !closed).length;

/** Each sends one byte in a second, until the test ends them. */
function sendSlowly(sockets: readonly Socket[], bytes: Buffer): () => void {
  let at = 0;
  const timer = setInterval(() => {
    for (const socket of sockets) {
      if (socket.writable) socket.write(bytes.subarray(at % bytes.length, (at % bytes.length) + 1));
    }
    at += 1;
  }, 1_000);
  return () => clearInterval(timer);
}

test('[LN43] T07: an address of a network without TLS stops the start with one line', async () => {
  for (const CALLBOARD_HOST of ['0.0.0.0', '::', '203.0.113.1']) {
    const { code, errors } = await runServer({ CALLBOARD_HOST });
    expect(code).toBe(1);
    expect(errors).toEqual([expect.stringContaining(JSON.stringify(CALLBOARD_HOST))]);
    expect(errors[0]).toMatch(/--lan.*--insecure-plaintext-lan/);
  }
});

test('[LN45] T16: the development server does not start on an address of a network', async () => {
  const { code, errors } = await runServer({ CALLBOARD_HOST: '0.0.0.0', CALLBOARD_DEV: '1' });
  expect([code, errors.length]).toEqual([1, 1]);
  expect(errors[0]).toMatch(/development server/);
});

test('[LN10] [LN20] with --lan a start prints links for phones, and serves TLS with its own CA beside plain HTTP here', async () => {
  const log = board().log();
  expect(log).toMatch(/Its SHA-256: +(?:[0-9A-F]{2}:){31}[0-9A-F]{2}\n/);
  const ca = await caOf(board());
  expect(await overTls(board(), '/healthz', ca)).toBe(200);
  expect(await overTls(board(), '/trust', ca)).toBe(200);
  expect(await overTls(board(), '/v1/tools', ca)).toBe(401);
  expect((await get(board(), '/v1/tools')).status).toBe(200);
  const { body } = await get(board(), '/v1/reach');
  expect(body).toMatchObject({ tls: 'own', open: true, plaintext: false });
});

test('[LN25] [LN43] with --cert and --key that certificate is served, and a wrong pair stops the start', async ({
  startServer,
}) => {
  // The files of another server serve as given ones.
  const file = (name: string) => join(board().dataDir, 'tls', name);
  const [cert, key] = ['--cert', '--key'];
  const own = await startServer({
    args: [cert, file('server.crt'), key, file('server.key')],
    env: { CALLBOARD_HOST: '0.0.0.0' },
  });
  expect(await overTls(own, '/healthz', await caOf(board()))).toBe(200);
  expect((await get(own, '/v1/reach')).body).toMatchObject({ tls: 'given', plaintext: false });
  // There is no CA of this server to install.
  await expect(caOf(own)).rejects.toThrow('ENOENT');
  const wrong = await runServer({}, { args: [cert, file('server.crt'), key, file('ca.key')] });
  expect([wrong.code, wrong.errors.length]).toEqual([1, 1]);
  expect(wrong.errors[0]).toMatch(/--key .*ca\.key/);
});

test('T30: 500 connections that send nothing are bounded and soon gone, and a client still gets in within a second', async () => {
  const ca = await caOf(board());
  const silent = await openSockets(board(), 500);
  const startedAt = performance.now();
  expect(await overTls(board(), '/healthz', ca)).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  await expect.poll(() => openOf(silent), { timeout: 2_000 }).toBeLessThanOrEqual(256);
  await expect.poll(() => openOf(silent), { timeout: 8_000 }).toBe(0);
});

test('T31: headers, and handshakes, that come byte by byte are ended in twelve seconds', async () => {
  const ca = await caOf(board());
  const headers = await openSockets(board(), 200);
  const handshakes = await openSockets(board(), 200);
  const startedAt = performance.now();
  const stops = [
    sendSlowly(headers, Buffer.from('GET /healthz HTTP/1.1')),
    sendSlowly(handshakes, Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3])),
  ];
  expect(await overTls(board(), '/healthz', ca)).toBe(200);
  await expect
    .poll(() => openOf([...headers, ...handshakes]), { timeout: 15_000, intervals: [100] })
    .toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(12_500);
  for (const stop of stops) stop();
  expect((await get(board(), '/healthz')).status).toBe(200);
});

test('T27: headers of proxies give no name, no attempt and no right', async ({ startServer }) => {
  const own = await startServer();
  const spoofed = {
    'x-forwarded-for': '127.0.0.1',
    'x-real-ip': '127.0.0.1',
    forwarded: 'for=127.0.0.1;host=localhost;proto=https',
    'x-forwarded-proto': 'https',
  };
  const refused = await get(own, '/v1/tools', { token: null, headers: spoofed });
  expect(refusalOf(refused)).toMatchObject({ status: 401, code: 'unauthenticated' });
  const signedIn = await post(
    own,
    '/auth/sign-in',
    { token: own.token },
    { token: null, headers: { ...spoofed, 'x-forwarded-for': '198.51.100.9' } },
  );
  expect(String(signedIn.headers['set-cookie'])).not.toContain('Secure');
  const { body } = await get(own, '/v1/audit?act=signed_in');
  expect(body).toMatchObject({ entries: [{ address: '127.0.0.1' }] });
});

test('[AU66] [AU67] T27: from a trusted proxy its word on client and scheme counts', async ({
  startServer,
}) => {
  const env = {
    CALLBOARD_PUBLIC_URL: 'https://board.example',
    CALLBOARD_TRUSTED_PROXIES: '127.0.0.1',
  };
  const own = await startServer({ env });
  const headers = {
    host: 'board.example',
    origin: 'https://board.example',
    'x-forwarded-for': '127.0.0.1, 198.51.100.9',
    'x-forwarded-proto': 'https',
  };
  const token = { token: own.token };
  const signedIn = await post(own, '/auth/sign-in', token, { token: null, headers });
  expect(signedIn.status).toBe(200);
  expect(String(signedIn.headers['set-cookie'])).toMatch(/^__Host-.*; Secure$/);
  const { body } = await get(own, '/v1/audit?act=signed_in');
  expect(body).toMatchObject({ entries: [{ address: '198.51.100.9' }] });
  const page = await get(own, '/sign-in', { token: null, headers });
  expect(page.headers['strict-transport-security']).toBe('max-age=15552000');
  expect((await get(own, '/v1/reach')).body).toMatchObject({ tls: 'proxy' });
});
