import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer } from './create-http.ts';

/** A server that leaves its requests waiting, and what comes back for bytes that are written to it. */
async function write(bytes: string) {
  const waiting: ServerResponse[] = [];
  const server = createHttpServer({
    onRequest: (_incoming, outgoing) => void waiting.push(outgoing),
    onUpgrade: (_incoming, socket) => void socket.destroy(),
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  onTestFinished(() => void server.close());
  const came: string[] = [];
  socket.on('data', (chunk) => void came.push(String(chunk))).write(bytes);
  const comes = (text: string) => expect.poll(() => came.join(''), { interval: 1 }).toContain(text);
  return { waiting, comes };
}

test('[HT57] of 50 requests in one packet each is handled once the one before has its response', async () => {
  const { waiting, comes } = await write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(50));
  for (let number = 1; number <= 50; number += 1) {
    await expect.poll(() => waiting.length, { interval: 1 }).toBe(1);
    waiting.pop()?.end(`number ${number}.`);
    await comes(`number ${number}.`);
  }
  expect(waiting).toEqual([]);
});

test.each([
  ['headers that are too large', `GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, ' 431 '],
  ['bytes that are not HTTP', 'to be or not\r\n\r\n', ' 400 '],
])('%s are answered with their status', async (_, bytes, status) => {
  await (await write(bytes)).comes(status);
});
