import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer } from './create-http.ts';
import { admit } from './unused-connections.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** Without a credential, and of its body a part. */
const ANONYMOUS_POST = 'POST /stranger HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1234';

/** A server for few connections, whose answers wait until the test sends them. */
async function setup() {
  const waiting: ServerResponse[] = [];
  const server = createHttpServer({
    onRequest(incoming, outgoing) {
      if (incoming.url === '/stranger') return;
      admit(outgoing);
      waiting.push(outgoing);
    },
    onUpgrade(_incoming, socket) {
      admit(socket);
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    },
    maxConnections: 40,
    maxUnused: 20,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  const open = async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.resume();
    return socket;
  };
  const openMany = async (count: number) => {
    const opened: Socket[] = [];
    for (let n = 0; n < count; n += 1) opened.push(await open());
    return opened;
  };
  const answer = async (socket: Socket, text: string) => {
    socket.write(text);
    await expect.poll(() => waiting.length).toBe(1);
    const came = once(socket, 'data');
    waiting.pop()?.end('hello');
    return String((await came)[0]);
  };
  return { waiting, open, openMany, answer };
}

test('[HT55] T30: 400 connections that say nothing, or half of a request, do not keep out who comes after them', async () => {
  const { open, openMany, answer } = await setup();
  for (const socket of await openMany(400)) socket.write('GET / HTTP/1.1\r\nHost');
  expect(await answer(await open(), GET)).toContain('200 OK');
});

test('[HT55] 400 connections whose request has shown no credential do not keep out who comes after them', async () => {
  const { open, openMany, answer } = await setup();
  for (const socket of await openMany(400)) socket.write(ANONYMOUS_POST);
  expect(await answer(await open(), GET)).toContain('200 OK');
});

test('[HT55] where others use most of all connections, those without a request still leave room', async () => {
  const { open, openMany, waiting, answer } = await setup();
  for (let n = 0; n < 30; n += 1) (await open()).write(GET);
  await expect.poll(() => waiting.length).toBe(30);
  waiting.length = 0;
  await openMany(400);
  expect(await answer(await open(), GET)).toContain('200 OK');
});

test('[HT55] connections that wait for the next request are closed, those unused for longest first', async () => {
  const { open, openMany, answer } = await setup();
  const [first, second] = [await open(), await open()];
  await answer(second, GET);
  await answer(first, GET);
  await openMany(19);
  await expect.poll(() => [first.closed, second.closed]).toEqual([false, true]);
  expect(await answer(first, GET)).toContain('200 OK');
});

test('[HT55] one whose request is not answered yet is kept, and so is an upgraded one', async () => {
  const { open, openMany, waiting } = await setup();
  const [asks, upgraded] = [await open(), await open()];
  asks.write(GET + GET);
  await expect.poll(() => waiting.length).toBe(1);
  waiting[0]?.end('the first of two');
  await once(asks, 'data');
  await expect.poll(() => waiting.length).toBe(2);
  upgraded.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  await once(upgraded, 'data');
  const others = await openMany(60);
  await expect.poll(() => others.filter(({ closed }) => closed).length).toBe(40);
  const came = once(asks, 'data');
  waiting[1]?.end('the second');
  expect(String((await came)[0])).toContain('the second');
  expect(upgraded.closed).toBe(false);
});
