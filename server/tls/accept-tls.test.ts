import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer } from '../http/create-http.ts';
import { type AcceptLimits, acceptTls } from './accept-tls.ts';
import { makeCa, makeServerPair, type Pair } from './make-certificates.ts';

const MACHINE = { names: ['localhost'], addresses: ['127.0.0.1', '::1'] };

/** A server that takes both, and answers with what it was. */
async function setup(limits: Partial<AcceptLimits> = {}) {
  const ca = await makeCa('test', Date.now());
  const server = createHttpServer({
    onRequest: ({ socket, url }, outgoing) => {
      outgoing.end(`${'encrypted' in socket ? 'tls' : 'plain'} ${url}`);
    },
    onUpgrade: (_incoming, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
  });
  const change = acceptTls(server, await makeServerPair(ca, MACHINE, Date.now()), limits);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  const open = async () => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    socket.resume();
    await once(socket, 'connect');
    return socket;
  };
  return { ca, server, port, change, open };
}

type Setup = Awaited<ReturnType<typeof setup>>;

const askTls = ({ port, ca }: Pick<Setup, 'port' | 'ca'>): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/a', ca: ca.cert, agent: false };
    request(options, (response) => resolve(text(response)))
      .on('error', reject)
      .end();
  });

test('[LN10] one port takes TLS and plain HTTP, and each request shows which it is', async () => {
  const { port, ca } = await setup();
  expect(await askTls({ port, ca })).toBe('tls /a');
  const [response]: IncomingMessage[] = await once(get({ port, path: '/b' }), 'response');
  expect(response && (await text(response))).toBe('plain /b');
});

test('[LN11] TLS before 1.2 is refused', async () => {
  const { port, ca, open } = await setup();
  const old = connectTls({
    ...{ host: '127.0.0.1', port, ca: ca.cert, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' },
    ciphers: 'DEFAULT:@SECLEVEL=0',
  });
  const [error]: Error[] = await once(old, 'error');
  expect(error?.message).toMatch(/alert|version|protocol/i);
  expect((await open()).destroyed).toBe(false);
});

test('[LN12] bytes that begin as TLS and are none close their connection, and no other', async () => {
  const { port, ca, open } = await setup();
  const socket = await open();
  const closed = once(socket, 'close');
  socket.write(Buffer.concat([Buffer.from([0x16, 3, 1, 0, 4]), Buffer.from('junk')]));
  await closed;
  expect(await askTls({ port, ca })).toBe('tls /a');
});

test('[LN13] T30: 500 connections that send nothing are bounded, and gone after the time for a first byte', async () => {
  const { port, ca, open } = await setup({ firstByteMs: 1_000, maxPending: 64 });
  const silent = await Promise.all(Array.from({ length: 500 }, open));
  const startedAt = performance.now();
  expect(await askTls({ port, ca })).toBe('tls /a');
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  await expect
    .poll(() => silent.filter(({ closed }) => !closed).length, { interval: 5, timeout: 800 })
    .toBeLessThanOrEqual(64);
  await expect.poll(() => silent.every(({ closed }) => closed), { timeout: 6_000 }).toBe(true);
});

test('[LN14] T31: a handshake that comes byte by byte is ended at its time', async () => {
  const { port, ca, open } = await setup({ handshakeMs: 800 });
  const hello = Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]);
  const slow = await Promise.all(Array.from({ length: 200 }, open));
  const timers = slow.map((socket) => {
    let at = 0;
    return setInterval(() => socket.write(hello.subarray(at % 11, (at++ % 11) + 1)), 100);
  });
  onTestFinished(() => timers.forEach(clearInterval));
  expect(await askTls({ port, ca })).toBe('tls /a');
  await expect.poll(() => slow.every(({ closed }) => closed), { timeout: 6_000 }).toBe(true);
});

test('[LN15] another certificate counts for connections from then on; those that are open stay', async () => {
  const { port, ca, change } = await setup();
  const before = connectTls({ host: '127.0.0.1', port, ca: ca.cert });
  await once(before, 'secureConnect');
  const other: Pair = await makeCa('another', Date.now());
  change(await makeServerPair(other, MACHINE, Date.now()));
  await expect(askTls({ port, ca })).rejects.toThrow(/certificate|issuer|signature/i);
  expect(await askTls({ port, ca: other })).toBe('tls /a');
  before.write('GET /open HTTP/1.1\r\nHost: a\r\n\r\n');
  const [chunk]: Buffer[] = await once(before, 'data');
  expect(String(chunk)).toContain('200 OK');
  before.destroy();
});
