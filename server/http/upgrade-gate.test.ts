import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { Credentials } from '../auth/credentials.ts';
import { FIRST_OPERATOR } from '../auth/principal.ts';
import { SESSION_MAX_MS, SESSION_RENEW_MS } from '../auth/sessions.ts';
import {
  startTestServer,
  type TestServer,
  type TestServerOptions,
  TOKENS,
} from './testing/start-test-server.ts';
import type { SocketContext } from './upgrade-gate.ts';

const asOperator = { authorization: `Bearer ${TOKENS.operator}` };

describe('who is let in', () => {
  test('[UG2] T01 T06: a foreign host or origin is refused, with the right token too', async () => {
    const { server } = await setup();
    const host = { ...asOperator, host: 'rebind.example:3000' };
    expect(await dial(server, '/ws/watch', { headers: host })).toBe(421);
    for (const origin of [
      'https://evil.example',
      'http://localhost.evil.example',
      'null',
      'http://127.0.0.1:1',
    ]) {
      expect(await dial(server, '/ws/watch', { headers: { ...asOperator, origin } }), origin).toBe(
        403,
      );
    }
  });

  test('[UG3] T05: a cookie needs our Origin, and the key beside it', async () => {
    const { server } = await setup();
    const { headers, protocols } = await signIn(server);
    const { cookie } = headers;
    expect(await dial(server, '/ws/watch', { headers: { cookie }, protocols })).toBe(403);
    expect(await dial(server, '/ws/watch', { headers })).toBe(401);
    const other = (await signIn(server)).protocols;
    expect(await dial(server, '/ws/watch', { headers, protocols: other })).toBe(401);
    const opened = await dial(server, '/ws/watch', { headers, protocols });
    expect(opened).toMatchObject({ protocol: 'callboard.v1' });
  });

  test.each(['//', '*', 'http://a:99999/', '/%E0%A4%A', '/ws/../ws/client'])(
    '[UG1] T140: the target %s is refused and hung up on',
    async (target) => {
      const { server } = await setup();
      const handshake =
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
      const head = `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n`;
      expect(await server.raw(head + handshake)).toMatch(/^HTTP\/1.1 400 /);
      expect((await server.get('/healthz')).status).toBe(200);
    },
  );

  test('[UG4] agents open neither, devices the client socket alone', async () => {
    const { server } = await setup();
    const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    expect(await dial(server, '/ws/client', as(TOKENS.agent))).toBe(403);
    expect(await dial(server, '/ws/watch', as(TOKENS.agent))).toBe(403);
    expect(await dial(server, '/ws/watch', as(TOKENS.device))).toBe(403);
    expect(await dial(server, '/ws/client', as(TOKENS.device))).toBeInstanceOf(WebSocket);
  });

  test('[HT220] T12: the chat is for who may be a client, in its own subprotocol, and closed by default', async () => {
    const sockets = { '/ws/client': () => {}, '/ws/watch': () => {}, '/ws/chat': () => {} };
    const { server } = await setup({ sockets });
    const as = (token: string) => ({
      headers: { authorization: `Bearer ${token}` },
      protocols: ['callboard.v1', 'clawseed.v1'],
    });
    for (const token of [TOKENS.operator, TOKENS.colleague, TOKENS.device])
      expect(await dial(server, '/ws/chat', as(token))).toMatchObject({ protocol: 'clawseed.v1' });
    expect(await dial(server, '/ws/client', as(TOKENS.device))).toMatchObject({
      protocol: 'callboard.v1',
    });
    for (const token of [TOKENS.agent, TOKENS.viewer])
      expect(await dial(server, '/ws/chat', as(token))).toBe(403);
    expect(await dial(server, `/ws/chat?token=${TOKENS.operator}`)).toBe(401);
    const foreign = { ...asOperator, origin: 'https://evil.example' };
    expect(await dial(server, '/ws/chat', { headers: foreign })).toBe(403);
  });
});

describe('what it bears', () => {
  test('[UG7] no more than the allowed sockets; clients keep out no watcher', async () => {
    const { server } = await setup({}, { maxSockets: { client: 2, watcher: 1 } });
    const [first] = [await open(server), await open(server)];
    expect(await dial(server, '/ws/client', { headers: asOperator })).toBe(429);
    const watcher = await dial(server, '/ws/watch', { headers: asOperator });
    expect(watcher).toBeInstanceOf(WebSocket);
    expect(await dial(server, '/ws/watch', { headers: asOperator })).toBe(429);
    if (watcher instanceof WebSocket) watcher.close();
    await expect.poll(() => server.gate.openCount).toBe(2);
    first.close();
    await expect.poll(() => server.gate.openCount).toBe(1);
    expect(await dial(server, '/ws/client', { headers: asOperator })).toBeInstanceOf(WebSocket);
  });

  test('[UG7] no more than 64 of one device, whatever carries them, and others go on', async () => {
    const { server } = await setup();
    const headers = { authorization: `Bearer ${TOKENS.device}` };
    const sockets = await Promise.all(Array.from({ length: 64 }, () => open(server, { headers })));
    expect(await dial(server, '/ws/client', { headers })).toBe(429);
    expect((await server.get('/internal/stream', { token: TOKENS.device })).status).toBe(429);
    expect(await dial(server, '/ws/watch', { headers: asOperator })).toBeInstanceOf(WebSocket);
    sockets[0]?.close();
    await expect.poll(() => server.gate.openCount).toBe(64);
    expect(await dial(server, '/ws/client', { headers })).toBeInstanceOf(WebSocket);
  });

  test('[UG8] no more than the allowed upgrades in waiting', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const credentials: Pick<Credentials, 'authenticate'> = {
      async authenticate() {
        asked.resolve();
        await answer.promise;
        return FIRST_OPERATOR;
      },
    };
    const { server } = await setup({ credentials, maxPendingPerNetwork: 1 });
    const first = dial(server, '/ws/client');
    await asked.promise;
    expect(await dial(server, '/ws/client')).toBe(429);
    answer.resolve();
    expect(await first).toBeInstanceOf(WebSocket);
    expect(await dial(server, '/ws/client')).toBeInstanceOf(WebSocket);
  });
});

describe('how it ends', () => {
  test('[UG10] closing closes all with the code, and admits no more', async () => {
    const { server } = await setup();
    const ws = await open(server);
    server.gate.close(1012, 'restarting');
    expect((await once(ws, 'close'))[0]).toBe(1012);
    expect(await dial(server, '/ws/client', { headers: asOperator })).toBe(503);
  });

  test("[UG9] T26: signing out closes that session's sockets alone", async () => {
    const { server } = await setup();
    const [mine, other] = [await signIn(server), await signIn(server)];
    const sockets = await Promise.all([
      open(server, mine),
      open(server, mine),
      open(server, other),
      open(server),
    ]);
    const closed = Promise.all(sockets.slice(0, 2).map((ws) => once(ws, 'close')));
    const headers = { ...mine.headers, 'x-callboard-session': mine.key };
    await server.post('/auth/sign-out', {}, { token: null, headers });
    expect((await closed).map(([code]) => code)).toEqual([4401, 4401]);
    expect(sockets.map((ws) => ws.readyState === WebSocket.OPEN)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  test("[UG9] a session's last day closes its sockets", async () => {
    const clock = createManualClock();
    const server = await startTestServer({ deps: { clock } });
    const ws = await open(server, await signIn(server));
    const closed = once(ws, 'close');
    // By hours, as the clock is looked at: each time the session is found in use.
    for (let hour = 0; hour < SESSION_MAX_MS / SESSION_RENEW_MS; hour += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(ws.readyState).toBe(WebSocket.OPEN);
      clock.advance(SESSION_RENEW_MS);
    }
    expect((await closed)[0]).toBe(4401);
  });

  test('[UG11] in development what is not ours goes to Next', async () => {
    const paths: (string | undefined)[] = [];
    const { server } = await setup({
      devUpgrade(incoming, socket) {
        paths.push(incoming.url);
        socket.end('HTTP/1.1 418 Teapot\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      },
    });
    expect(await dial(server, '/_next/hmr')).toBe(418);
    expect(await dial(server, '/_next/hmr', { headers: { origin: 'https://evil.example' } })).toBe(
      403,
    );
    expect(await dial(server, '/_next/hmr', { headers: { host: 'evil.example' } })).toBe(421);
    expect(await dial(server, '/ws/client')).toBe(401);
    expect(paths).toEqual(['/_next/hmr']);
  });
});

type GateOptions = NonNullable<TestServerOptions['gate']>;

async function setup(gate: GateOptions = {}, options: Partial<TestServerOptions> = {}) {
  const contexts: SocketContext[] = [];
  const server = await startTestServer({
    gate,
    ...options,
    onSocket: (_ws, context) => void contexts.push(context),
  });
  return { server, contexts };
}

interface DialOptions {
  readonly headers?: Record<string, string>;
  readonly protocols?: string[];
}

/** The open socket, or the status it was refused with. */
function dial({ port }: TestServer, path: string, { headers = {}, protocols }: DialOptions = {}) {
  const ws = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { headers });
  return new Promise<WebSocket | number | undefined>((resolve, reject) => {
    ws.on('open', () => resolve(ws));
    ws.on('unexpected-response', (_request, response) => resolve(response.statusCode));
    ws.on('error', reject);
  });
}

async function open(server: TestServer, options: DialOptions = { headers: asOperator }) {
  const ws = await dial(server, '/ws/client', options);
  if (!(ws instanceof WebSocket)) throw new Error(`refused with ${ws}`);
  return ws;
}

/** What a page of ours opens a socket with. */
async function signIn(server: TestServer) {
  const { cookie: set, key } = await server.sessions.signIn(null, false);
  const headers = { cookie: set.split(';')[0] ?? '', origin: ownOrigin(server) };
  return { key, headers, protocols: ['callboard.v1', `session.${key}`] };
}

const ownOrigin = ({ port }: TestServer): string => `http://127.0.0.1:${port}`;
