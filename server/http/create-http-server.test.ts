import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer } from './create-http.ts';

test('[HT57] of 50 requests in one packet each is handled once the one before has its response', async () => {
  const waiting: ServerResponse[] = [];
  const server = createHttpServer({
    onRequest: (_incoming, outgoing) => void waiting.push(outgoing),
    onUpgrade: (_incoming, socket) => void socket.destroy(),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  let came = '';
  socket.on('data', (chunk) => {
    came += String(chunk);
  });
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(50));
  for (let number = 1; number <= 50; number += 1) {
    await expect.poll(() => waiting.length, { interval: 1 }).toBe(1);
    waiting.pop()?.end(`number ${number}.`);
    await expect.poll(() => came, { interval: 1 }).toContain(`number ${number}.`);
  }
  expect(waiting).toEqual([]);
});
