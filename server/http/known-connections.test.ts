import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Caller } from '../auth/principal.ts';
import { createKnownConnections } from './known-connections.ts';
import { startTestServer } from './testing/start-test-server.ts';

const caller: Caller = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: [] };
const known = { caller, peer: { address: '192.0.2.1', isSecure: false } };
const HEADERS = {
  Host: 'board:1',
  Authorization: 'Bearer secret',
  Cookie: 'session=a',
  'X-Callboard-Session': 'key',
  Origin: 'http://board:1',
  Via: '1.1 proxy',
  'X-Forwarded-For': '192.0.2.1',
  'X-Forwarded-Proto': 'http',
  'Sec-Fetch-Site': 'same-origin',
  'Content-Type': 'application/json',
  'Content-Length': '10',
  'Idempotency-Key': 'one',
  Traceparent: '00-1-1-00',
};
const FREE = ['Content-Length', 'Idempotency-Key', 'Traceparent'];

function setup() {
  const now = { ours: {}, counts: true, isForeign: false };
  const connections = createKnownConnections({
    hostGate: { ours: () => now.ours, isForeignPage: () => now.isForeign },
    credentials: { follow: () => () => now.counts },
  });
  const socket = new Socket();
  const from = (headers: Record<string, string>, method = 'POST') =>
    ({ socket, method, headers: {}, rawHeaders: Object.entries(headers).flat() }) as never;
  return { now, connections, from };
}

test('[HT96] the same headers on a connection show the same caller; on another one they show nothing', () => {
  const { connections, from } = setup();
  expect(connections.of(from(HEADERS))).toBe(undefined);
  connections.keep(from(HEADERS), known);
  expect(connections.of(from({ ...HEADERS }))).toBe(known);
  expect(connections.of(setup().from(HEADERS))).toBe(undefined);
});

test.each(Object.keys(HEADERS))('[HT96] of a request with another %s', (name) => {
  const { connections, from } = setup();
  connections.keep(from(HEADERS), known);
  const before = Object.entries(HEADERS);
  const value = `${before.find(([one]) => one === name)?.[1]}`;
  const found = [`${value}x`, value.slice(1), value.toUpperCase(), `x${value.slice(1)}`, '']
    .filter((other) => other !== value)
    .map((other) => connections.of(from({ ...HEADERS, [name]: other })));
  expect(new Set(found)).toEqual(new Set([FREE.includes(name) ? known : undefined]));
  const without = Object.fromEntries(before.filter(([one]) => one !== name));
  const renamed = Object.fromEntries(before.map(([one, text]) => [one === name ? 'X' : one, text]));
  const others = [without, renamed, { ...HEADERS, [name.toLowerCase()]: value }];
  expect(others.map((headers) => connections.of(from(headers)))).toEqual(
    others.map(() => undefined),
  );
});

test('[HT96] what was shown counts no more with another method, once a host is not ours, or the credential is gone', () => {
  const { now, connections, from } = setup();
  connections.keep(from(HEADERS), known);
  expect(connections.of(from(HEADERS, 'DELETE'))).toBe(undefined);
  now.counts = false;
  expect(connections.of(from(HEADERS))).toBe(undefined);
  now.counts = true;
  expect(connections.of(from(HEADERS))).toBe(known);
  now.ours = {};
  expect(connections.of(from(HEADERS))).toBe(undefined);
});

test('[HT96] of a device, of a page of another origin, and of long or many headers nothing is kept', () => {
  const { now, connections, from } = setup();
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`X${at}`, '']));
  connections.keep(from(many), known);
  expect(connections.of(from(many))).toBe(undefined);
  const device: Caller = { kind: 'device', clientId: 'phone', tokenId: 'tok_phone' };
  connections.keep(from(HEADERS), { ...known, caller: device });
  connections.keep(from({ ...HEADERS, Accept: 'x'.repeat(5_000) }), known);
  now.isForeign = true;
  connections.keep(from(HEADERS), known);
  expect(connections.of(from(HEADERS))).toBe(undefined);
  expect(connections.of(from({ ...HEADERS, Accept: 'x'.repeat(5_000) }))).toBe(undefined);
});

/** Asks for the tools, on one connection. */
async function onOneConnection() {
  const server = await startTestServer();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ports = new Set<number | undefined>();
  const ask = async (headers: Record<string, string>) => {
    const asking = request({ agent, port: server.port, path: '/v1/tools', headers }).end();
    const [answer] = await once(asking, 'response');
    ports.add(asking.socket?.localPort);
    await once(answer.resume(), 'end');
    return answer.statusCode;
  };
  return { server, ask, ports };
}

test('[HT96] [AU33] a token that is revoked opens nothing on a connection that it has opened before', async () => {
  const { server, ask, ports } = await onOneConnection();
  const made = await server.tokens.create({ kind: 'agent', name: 'bot', tools: [] }, 'operator');
  const headers = { authorization: `Bearer ${made.secret}` };
  expect([await ask(headers), await ask(headers)]).toEqual([200, 200]);
  expect(await ask({ ...headers, host: 'elsewhere.example' })).toBe(421);
  expect(await ask({ authorization: `Bearer ${made.secret.slice(0, -1)}-` })).toBe(401);
  expect(await ask(headers)).toBe(200);
  const revoked = server.tokens.revoke(made.token.id);
  expect(await ask(headers)).toBe(401);
  await revoked;
  expect(ports.size).toBe(1);
});

test('[HT96] [AU10] a sign-in that has ended opens nothing on a connection that it has opened before', async () => {
  const { server, ask, ports } = await onOneConnection();
  const { cookie, key } = await server.sessions.signIn(null, false);
  const sent = cookie.split(';')[0] ?? '';
  const headers = { cookie: sent, 'x-callboard-session': key };
  expect([await ask(headers), await ask(headers)]).toEqual([200, 200]);
  expect(await ask({ ...headers, 'x-callboard-session': `${key}x` })).toBe(401);
  expect(await ask({ ...headers, 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(await ask(headers)).toBe(200);
  const session = await server.sessions.find(sent, key);
  await server.sessions.signOut(session?.id ?? '', false);
  expect(await ask(headers)).toBe(401);
  expect(ports.size).toBe(1);
});
