import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createSystemClock } from '../clock.ts';
import { createWatchSocketHandler } from './watch-socket.ts';

async function watcher() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const handle = createWatchSocketHandler({
    hub: { add: async () => () => {} },
    clock: createSystemClock(),
    heartbeatMs: 60_000,
    onError: (error) => {
      throw error;
    },
  });
  server.on('connection', handle);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const socket = new WebSocket(`ws://127.0.0.1:${address.port}`);
  onTestFinished(() => {
    socket.terminate();
    return new Promise((closed) => server.close(() => closed()));
  });
  await once(socket, 'open');
  return {
    async ask(message: unknown) {
      socket.send(JSON.stringify(message));
      const [data] = await once(socket, 'message');
      return JSON.parse(String(data));
    },
  };
}

test('[LV5] a watcher that asks whether the server is there gets its own nonce back', async () => {
  const { ask } = await watcher();
  expect(await ask({ type: 'probe', nonce: 'n-1' })).toEqual({ type: 'probe_ack', nonce: 'n-1' });
});

test('[LV5] a probe that makes no sense is refused like any other message', async () => {
  const { ask } = await watcher();
  expect(await ask({ type: 'probe', nonce: 7 })).toMatchObject({ code: 'bad_message' });
});
