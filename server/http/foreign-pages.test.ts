import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { joinedSchema, type Outcome, pairingSchema } from '#lib/protocol/device';
import {
  type Asked,
  startTestServer,
  type TestServer,
  TOKENS,
} from './testing/start-test-server.ts';

const SHOP = 'https://shop.example';
const OTHER = 'http://localhost:8123';

const newToken = () => `cb_device_${randomBytes(32).toString('base64url')}`;
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

const from = (origin: string, more: Asked = {}): Asked => ({
  token: null,
  ...more,
  headers: { origin, ...more.headers },
});

const join = (server: TestServer, origin: string, token: string, more: object = {}) =>
  server.post(
    '/api/pairing/join',
    { token_hash: hashOf(token), name: 'Shop', kind: 'tab', tools: [], ...more },
    from(origin),
  );

const decide = (server: TestServer, id: string, decision: object) =>
  server.post(`/v1/pairings/${id}/decision`, decision);

/** A page of the origin that asked, and was let in. */
async function paired(server: TestServer, origin: string) {
  const token = newToken();
  const { pairing_id } = joinedSchema.parse((await join(server, origin, token)).json);
  await decide(server, pairing_id, { decision: 'approve' });
  return token;
}

const statusOfSocket = (server: TestServer, path: string, token: string | null, headers: object) =>
  new Promise<number>((resolve) => {
    const protocols = ['callboard.v1', ...(token === null ? [] : [`bearer.${token}`])];
    const ws = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, protocols, {
      headers: { ...headers },
    });
    ws.on('open', () => {
      ws.terminate();
      resolve(101);
    });
    ws.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    ws.on('error', () => {});
  });

test('[DV20] a page of another origin asks by its Origin, and reads the answer', async () => {
  const server = await startTestServer();
  const preflight = await server.ask('OPTIONS', '/api/pairing/join', from(SHOP));
  expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, SHOP]);
  expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
  const token = newToken();
  const asked = await join(server, SHOP, token);
  expect([asked.status, asked.headers['access-control-allow-origin']]).toEqual([200, SHOP]);
  expect(asked.headers.vary).toBe('origin');
  const { pairings } = (await server.get('/v1/pairings')).json;
  expect(pairingSchema.parse(pairings[0])).toMatchObject({
    ...{ state: 'asking', created_by: null, request: { origin: SHOP, name: 'Shop' } },
  });
  await decide(server, pairings[0].pairing_id, { decision: 'approve' });
  const outcome = await server.post('/api/pairing/outcome', { token }, from(SHOP));
  expect((outcome.json as Outcome).state).toBe('approved');
});

test('[DV20] a page that is not https nor of this machine, one without an origin, and one with a code are refused', async () => {
  const server = await startTestServer();
  for (const origin of ['http://shop.example', 'null', 'https://shop.example/a', 'file://']) {
    expect((await join(server, origin, newToken())).json.error.code).toBe('origin_not_allowed');
  }
  const { code } = (await server.post('/v1/pairings')).json;
  expect((await join(server, SHOP, newToken(), { code })).status).toBe(403);
  // Nor does it count as a try.
  for (let n = 0; n < 6; n += 1) await join(server, SHOP, newToken(), { code: '22222222' });
  expect((await server.post('/api/pairing/look', { code }, { token: null })).status).toBe(200);
  const ownPage = await server.post(
    '/api/pairing/join',
    { token_hash: hashOf(newToken()), name: 'Shop', kind: 'tab', tools: [] },
    { token: null },
  );
  expect(ownPage.json.error).toMatchObject({ code: 'bad_request' });
});

test('[DV20] the configuration switches pages off, also for their preflights', async () => {
  const server = await startTestServer({ devicePages: 'off' });
  expect((await join(server, SHOP, newToken())).status).toBe(403);
  expect((await server.ask('OPTIONS', '/api/pairing/join', from(SHOP))).status).toBe(403);
});

test('[DV23] T10: a page that was not let in may read no response but those to its question', async () => {
  const server = await startTestServer();
  await paired(server, OTHER);
  for (const path of [
    '/v1/tools',
    '/api/pairing/look',
    '/internal/stream',
    '/v1/blobs',
    '/healthz',
  ]) {
    for (const method of ['OPTIONS', 'GET', 'POST']) {
      const { status, headers } = await server.ask(method, path, { headers: { origin: SHOP } });
      expect([path, status]).toEqual([path, 403]);
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  }
  expect((await server.ask('OPTIONS', '/v1/tools', from(OTHER))).status).toBe(403);
});

test('[DV22] an origin that a person blocked is refused without a question until that is lifted', async () => {
  const server = await startTestServer();
  const { pairing_id } = joinedSchema.parse((await join(server, SHOP, newToken())).json);
  await decide(server, pairing_id, { decision: 'deny', block: true });
  const refused = await join(server, SHOP, newToken());
  expect([refused.status, refused.json.error.code]).toEqual([403, 'origin_not_allowed']);
  expect(refused.headers['access-control-allow-origin']).toBe(SHOP);
  expect((await server.get('/v1/blocked-origins')).json.origins).toMatchObject([{ origin: SHOP }]);
  const at = `/v1/blocked-origins?origin=${encodeURIComponent(SHOP)}`;
  expect((await server.ask('DELETE', at)).status).toBe(200);
  expect((await server.ask('DELETE', at)).status).toBe(404);
  expect((await server.get('/v1/blocked-origins')).json.origins).toEqual([]);
});

test('[DV23] T04: a page that was let in has its own paths alone, by its token alone', async () => {
  const server = await startTestServer();
  const { cookie, key } = await server.sessions.signIn(null, false);
  const [pair = ''] = cookie.split(';');
  const token = await paired(server, OTHER);
  const withCookie = { origin: OTHER, cookie: pair, 'x-callboard-session': key };
  const register = (client_id: string, asked: Asked) =>
    server.post('/internal/tools/register', { client_id, tools: [] }, asked);
  const { json: me } = await server.get('/v1/devices');
  const [{ client_id }] = me.devices;
  expect((await register(client_id, from(OTHER, { token }))).status).toBe(200);
  // Neither the person's sign-in nor the person's own token.
  expect((await register(client_id, { token: null, headers: withCookie })).status).toBe(403);
  expect((await register(client_id, { headers: { origin: OTHER } })).status).toBe(403);
  for (const path of ['/v1/me', '/v1/devices', '/v1/tool_calls', '/api/tools']) {
    expect((await server.get(path, from(OTHER, { token }))).status).toBe(403);
    expect((await server.get(path, { token: null, headers: withCookie })).status).toBe(403);
  }
  expect((await server.get('/v1/blobs', from(OTHER, { token }))).status).toBe(403);
  const upload = { token, headers: { origin: OTHER, 'content-type': 'text/plain' } };
  expect((await server.post('/v1/blobs', 'hello', upload)).status).toBe(200);
  expect(await statusOfSocket(server, '/ws/client', token, { origin: OTHER })).toBe(101);
  expect(await statusOfSocket(server, '/ws/watch', token, { origin: OTHER })).toBe(403);
  expect(await statusOfSocket(server, '/ws/client', null, withCookie)).toBe(403);
});

test('[DV24] the token of a page counts from its origin alone, and that of a phone from no other page', async () => {
  const server = await startTestServer();
  const token = await paired(server, SHOP);
  await paired(server, OTHER);
  const socket = (headers: object) => statusOfSocket(server, '/ws/client', token, headers);
  expect(await socket({ origin: SHOP })).toBe(101);
  expect(await socket({ origin: OTHER })).toBe(403);
  expect(await socket({ origin: `http://127.0.0.1:${server.port}` })).toBe(403);
  expect(await socket({})).toBe(403);
  const phone = newToken();
  const { code } = (await server.post('/v1/pairings')).json;
  const body = { code, token_hash: hashOf(phone), name: 'Pixel 8', kind: 'phone', tools: [] };
  const { pairing_id } = (await server.post('/api/pairing/join', body, { token: null })).json;
  await decide(server, pairing_id, { decision: 'approve' });
  expect(await statusOfSocket(server, '/ws/client', phone, {})).toBe(101);
  expect(await statusOfSocket(server, '/ws/client', phone, { origin: OTHER })).toBe(403);
});

test('[DV10] T22 T24: a viewer, an agent and a device open, decide and change nothing', async () => {
  const server = await startTestServer();
  const token = await paired(server, OTHER);
  const { devices } = (await server.get('/v1/devices')).json;
  const [{ device_id }] = devices;
  const waiting = joinedSchema.parse((await join(server, SHOP, newToken())).json);
  const { viewer, agent, device } = TOKENS;
  for (const caller of [viewer, agent, device]) {
    const statuses = await Promise.all([
      server.post('/v1/pairings', {}, { token: caller }),
      server.post(
        `/v1/pairings/${waiting.pairing_id}/decision`,
        { decision: 'approve' },
        { token: caller },
      ),
      server.ask('DELETE', `/v1/pairings/${waiting.pairing_id}`, { token: caller }),
      server.ask('PUT', `/v1/devices/${device_id}`, { token: caller, body: { name: 'Mine' } }),
      server.ask('DELETE', `/v1/devices/${device_id}`, { token: caller }),
      server.post(`/v1/devices/${device_id}/tools`, { allow: [] }, { token: caller }),
      server.ask('DELETE', '/v1/blocked-origins?origin=a', { token: caller }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual(Array(7).fill(403));
    const reads = await Promise.all(
      ['/v1/pairings', '/v1/devices', `/v1/devices/${device_id}`, '/v1/blocked-origins'].map(
        (path) => server.get(path, { token: caller }),
      ),
    );
    const status = caller === viewer ? 200 : 403;
    expect(reads.map((one) => one.status)).toEqual(Array(4).fill(status));
  }
  expect((await server.get('/v1/pairings', { token })).status).toBe(403);
});

test('[AU27] [HT41] T04: what a page of another site fetches without its Origin is refused, also where no credential is needed', async () => {
  const server = await startTestServer();
  const ask = async (path: string, site: string, token: string | null = null) =>
    (await server.get(path, { token, headers: { 'sec-fetch-site': site } })).status;
  for (const site of ['cross-site', 'same-site']) {
    expect([await ask('/healthz', site), await ask('/readyz', site)]).toEqual([403, 403]);
    expect(await ask('/api/tools', site, TOKENS.operator)).toBe(403);
    expect(await ask('/api/tools', site, 'a guess')).toBe(403);
  }
  expect([await ask('/healthz', 'none'), await ask('/healthz', 'same-origin')]).toEqual([200, 200]);
});
