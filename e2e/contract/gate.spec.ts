import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect as dial } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Callboard } from '../start-callboard.ts';
import { ask, get, post, refusalOf } from './kit/ask.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { openRawSocket, sendRaw, toFrame, upgradeHead } from './kit/raw-socket.ts';
import { askAsPage, openLink, pageHeaders, pageSocket, sessionOf, signIn } from './kit/sign-in.ts';
import { RefusedError } from './kit/socket.ts';
import { connectClient } from './kit/tool-client.ts';
import { connectWatcher } from './kit/watcher.ts';

const board = sharedCallboard();

/** A page elsewhere, or near, may send these as its origin. */
function foreignOrigins({ url }: Callboard): string[] {
  const { port } = new URL(url);
  return [
    'https://evil.example',
    'null',
    '',
    'file://',
    `https://127.0.0.1:${port}`,
    `http://127.0.0.1.evil.example:${port}`,
    `http://evil127.0.0.1:${port}`,
    `http://localhost.evil.example:${port}`,
    'http://127.0.0.1',
    `http://127.0.0.1:${port}0`,
    `http://127.0.0.1:${Number(port) - 1}`,
    `${url}/`,
    `${url}/path`,
    `http://user@127.0.0.1:${port}`,
    `http://127.1:${port}`,
    `http://0x7f000001:${port}`,
    `http://0.0.0.0:${port}`,
    `http://LOCALHOST:${port}`,
    `${url} https://evil.example`,
    `${url}, https://evil.example`,
    `chrome-extension://127.0.0.1:${port}`,
  ];
}

/** The status of an upgrade, 101 when it was one. */
async function upgrade(path: string, headers: Record<string, string>, protocols: string[] = []) {
  const open = path === '/ws/client' ? connectClient : connectWatcher;
  try {
    const socket = await open(board(), { token: null, headers, protocols });
    await socket.vanish();
    return 101;
  } catch (error) {
    if (error instanceof RefusedError) return error.status;
    throw error;
  }
}

test('T01 T02 T04 T05: §4 a socket with the cookie of a signed-in person opens for our own origin alone', async () => {
  const { headers, protocols } = pageSocket(board(), await signIn(board()));
  const { cookie } = headers;
  for (const path of ['/ws/client', '/ws/watch']) {
    const from = (origin: string) => upgrade(path, { cookie, origin }, protocols);
    expect(await from(board().url)).toBe(101);
    expect(await from(board().url.replace('127.0.0.1', 'localhost'))).toBe(101);
    expect(await upgrade(path, { cookie }, protocols), 'no origin').toBe(403);
    for (const origin of foreignOrigins(board())) {
      expect(await from(origin), `${path} ${origin}`).toBe(403);
    }
    const old = `${cookie.split('=')[0]}=never-was-one`;
    expect(await upgrade(path, { cookie: old, origin: board().url }, protocols)).toBe(401);
    expect(await upgrade(path, { origin: board().url }, protocols)).toBe(401);
  }
});

test('T05: §4 a program needs no origin, only its token, which may stand in the subprotocol', async () => {
  const authorization = `Bearer ${board().token}`;
  expect(await upgrade('/ws/client', { authorization })).toBe(101);
  expect(await upgrade('/ws/client', {}, ['callboard.v1', `bearer.${board().token}`])).toBe(101);
  expect(await upgrade('/ws/watch', {}, ['callboard.v1', 'bearer.wrong-token-0123456789'])).toBe(
    401,
  );
  expect(await upgrade('/ws/watch', {}, ['callboard.v1'])).toBe(401);
  expect(await upgrade(`/ws/watch?token=${board().token}`, {})).toBe(401);
  const head = upgradeHead(board(), '/ws/client', [
    `Sec-WebSocket-Protocol: callboard.v1, bearer.${board().token}`,
  ]);
  const answer = await sendRaw(board(), Buffer.concat([Buffer.from(head), toFrame({ opcode: 8 })]));
  expect(answer).toMatch(/^HTTP\/1\.1 101 /);
  expect(answer).not.toContain(board().token);
});

test('T09: §4 a request with a cookie counts from our own pages alone, whatever its method', async () => {
  const session = await signIn(board());
  const { origin: _, ...secrets } = pageHeaders(board(), session);
  const path = '/v1/tools/calculation.eval/invoke';
  const body = { run_id: 'run_csrf', args: { expression: '1' } };
  const ours = await askAsPage(board(), 'POST', path, { session, body });
  expect(ours.status).toBe(202);
  const foreign = foreignOrigins(board()).map((origin) => ({ origin }));
  const strange: Record<string, string>[] = [
    ...foreign,
    {},
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { referer: `${board().url}/` },
  ];
  for (const headers of strange) {
    const run = { run_id: 'run_forged', args: { expression: '1' } };
    const sent = { token: null, headers: { ...secrets, ...headers } };
    const answer = await post(board(), path, run, sent);
    expect(answer.status, JSON.stringify(headers)).toBe(403);
    expect(refusalOf(answer).code).toBe('origin_not_allowed');
  }
  for (const headers of [
    ...foreign,
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const answer = await get(board(), '/v1/tools', {
      token: null,
      headers: { ...secrets, ...headers },
    });
    expect(answer.status, JSON.stringify(headers)).toBe(403);
  }
  // A form can send this without asking first.
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ]) {
    const headers = { 'content-type': type };
    const answer = await askAsPage(board(), 'POST', path, { session, body, headers });
    expect(answer.status).toBe(415);
  }
  expect((await get(board(), '/v1/tool_calls?run_id=run_forged')).body).toMatchObject({
    tool_calls: [],
  });
});

test('T10: §4 no origin is ever allowed to read: nothing answers with a header of CORS', async () => {
  for (const origin of ['https://evil.example', board().url]) {
    for (const [method, path] of [
      ['OPTIONS', '/v1/tools'],
      ['OPTIONS', '/auth/sign-in'],
      ['GET', '/v1/tools'],
      ['GET', '/healthz'],
      ['GET', '/'],
    ] as const) {
      const headers = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      };
      const answer = await ask(board(), method, path, { headers });
      const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
      expect(cors, `${method} ${path}`).toEqual([]);
    }
  }
});

test('[HT2] T06: §4 a host name that is not ours is refused before anything else, on requests and sockets', async () => {
  const { port } = new URL(board().url);
  const hosts = [
    `rebind.example:${port}`,
    'rebind.example',
    `127.0.0.1.rebind.example:${port}`,
    `localhost.rebind.example:${port}`,
    `127.1:${port}`,
    `0.0.0.0:${port}`,
    `user@127.0.0.1:${port}`,
    `127.0.0.1:${port}@rebind.example`,
    `127.0.0.1:${port}.rebind.example`,
    `127.0.0.1:${port}:1`,
    `127.0.0.1.:${port}`,
  ];
  for (const host of hosts) {
    for (const path of ['/v1/tools', '/', '/sign-in', '/healthz']) {
      const answer = await get(board(), path, { headers: { host } });
      expect([400, 421], `${host} ${path}`).toContain(answer.status);
    }
    const headers = { host, authorization: `Bearer ${board().token}` };
    expect([400, 421], host).toContain(await upgrade('/ws/client', headers));
  }
  for (const host of [`LOCALHOST:${port}`, `[::1]:${port}`, '127.0.0.1:8080', 'localhost']) {
    expect((await get(board(), '/v1/tools', { headers: { host } })).status, host).toBe(200);
  }
});

test('T07: §3 by default only this machine can reach it', async () => {
  const { port } = new URL(board().url);
  const others = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address);
  for (const host of ['::1', ...others]) {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = dial(Number(port), host, () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    expect(reached, host).toBe(false);
  }
});

test('§4 the cookie is for this server alone, and neither secret is in the data directory', async () => {
  const answer = await post(board(), '/auth/sign-in', { token: board().token }, { token: null });
  const line = String(answer.headers['set-cookie']);
  for (const attribute of ['HttpOnly', 'SameSite=Strict', 'Path=/'])
    expect(line).toContain(attribute);
  expect(line).not.toContain('Domain');
  expect(answer.text).not.toContain(board().token);
  const { cookie, key } = sessionOf(answer);
  const secrets = [cookie.split('=')[1] ?? '', key];
  for (const secret of secrets) expect(secret.length).toBeGreaterThanOrEqual(32);
  for (const file of await readdir(board().dataDir, { withFileTypes: true })) {
    if (!file.isFile()) continue;
    const bytes = await readFile(join(board().dataDir, file.name));
    for (const secret of secrets) expect(bytes.includes(secret), file.name).toBe(false);
  }
});

test('§4 T26: who is signed out is not heard any more, even if it never answers the close', async ({
  connect,
}) => {
  const watcher = await connect.watcher(board());
  await watcher.next('snapshot');
  const session = await signIn(board());
  const raw = await openRawSocket(board(), '/ws/client', [
    `Cookie: ${session.cookie}`,
    `Origin: ${board().url}`,
    `Sec-WebSocket-Protocol: callboard.v1, session.${session.key}`,
  ]);
  const say = (message: object) =>
    raw.write({ opcode: 1, payload: Buffer.from(JSON.stringify(message)) });
  say({ type: 'probe', nonce: 'before' });
  await expect.poll(() => raw.texts().join()).toContain('before');
  await askAsPage(board(), 'POST', '/auth/sign-out', { session });
  await expect.poll(() => raw.closeCode()).toBe(4401);
  const tool = { name: 'from_the_grave', description: 'x', parameters: { type: 'object' } };
  say({ type: 'register_tools', tools: [tool] });
  const { ended } = await raw.ending();
  expect(ended, 'the server hangs up by itself').toBe(true);
  await connect.client(board(), { tools: ['afterwards'] });
  await watcher.next('tools', ({ tools }) => tools.some(({ name }) => name === 'afterwards'));
  expect(JSON.stringify(watcher.events())).not.toContain('from_the_grave');
});

test('§4 a session outlives a restart of the server, and so does its end', async ({
  startServer,
}) => {
  const first = await startServer();
  const [stays, ends] = [await signIn(first), await signIn(first)];
  await askAsPage(first, 'POST', '/auth/sign-out', { session: ends });
  await first.stop('SIGKILL');
  const second = await startServer({ dataDir: first.dataDir, token: first.token });
  expect((await askAsPage(second, 'GET', '/v1/tools', { session: stays })).status).toBe(200);
  expect((await askAsPage(second, 'GET', '/v1/tools', { session: ends })).status).toBe(401);
  expect((await openLink(second, first.signInUrl)).status).toBe(401);
});

test('§9 guesses of tokens are answered 429 with a time to wait, while the right one still passes', async ({
  startServer,
}) => {
  const own = await startServer();
  let last = await get(own, '/v1/tools', { token: 'wrong-token-000000000' });
  expect(refusalOf(last)).toMatchObject({ status: 401, code: 'unauthenticated' });
  for (let n = 0; n < 40 && last.status === 401; n += 1) {
    last = await get(own, '/v1/tools', { token: `wrong-token-${n}` });
  }
  expect(refusalOf(last)).toMatchObject({ status: 429, code: 'rate_limited' });
  expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
  const signingIn = await post(own, '/auth/sign-in', { token: own.token }, { token: null });
  expect(signingIn.status).toBe(200);
  expect((await get(own, '/v1/tools')).status).toBe(200);
});

test('§4 an origin and a host of the configuration may talk to it, and no other', async ({
  startServer,
}) => {
  const dir = await mkdtemp(join(tmpdir(), 'callboard-config-'));
  const file = join(dir, 'callboard.config.json');
  await writeFile(
    file,
    JSON.stringify({
      allowed_origins: ['https://board.example'],
      allowed_hosts: ['board.example'],
    }),
  );
  const own = await startServer({ env: { CALLBOARD_CONFIG: file } });
  await rm(dir, { recursive: true });
  const protocols = ['callboard.v1', `bearer.${own.token}`];
  const open = (origin: string) =>
    connectClient(own, { token: null, headers: { origin }, protocols });
  const client = await open('https://board.example');
  expect(client.ws.protocol).toBe('callboard.v1');
  await client.vanish();
  for (const origin of ['https://board.example.evil', 'https://x.example']) {
    await expect(open(origin), origin).rejects.toMatchObject({ status: 403 });
  }
  expect((await get(own, '/v1/tools', { headers: { host: 'board.example' } })).status).toBe(200);
  const foreign = await get(own, '/v1/tools', { headers: { host: 'x.board.example' } });
  expect(foreign.status).toBe(421);
});

test('T12: §4 no token and no cookie is ever printed', async () => {
  const session = await signIn(board());
  await askAsPage(board(), 'GET', '/v1/tools', { session });
  await get(board(), `/v1/tools?token=${board().token}`, { token: null });
  await upgrade('/ws/client', {}, ['callboard.v1', `bearer.${board().token}`]);
  const log = board().log();
  expect(log).not.toContain(board().token);
  expect(log).not.toContain(session.cookie.split('=')[1]);
  expect(log).not.toContain(session.key);
});
