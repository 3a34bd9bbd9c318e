import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { endedPartSchema } from '#lib/protocol/watch-messages';
import { createSystemClock } from '../base/clock.ts';
import type { ShownCall } from '../calls/call-service.ts';
import { throwingLogger } from '../testing/error-log.ts';
import { endedFrom } from './ended-parts.ts';
import { createWatchSocketHandler } from './watch-socket.ts';

type Hub = Parameters<typeof createWatchSocketHandler>[0]['hub'];

async function watcher(
  hub: Hub = { add: async () => () => {} },
  { calls = [], unread = 0 }: { calls?: readonly ShownCall[]; unread?: number } = {},
) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const handle = createWatchSocketHandler({
    hub,
    calls: { watched: () => calls },
    // No line is cut by time: on a busy machine a reader may need longer than that for the reason.
    clock: { ...createSystemClock(), schedule: () => () => {} },
    heartbeatMs: 60_000,
    logger: throwingLogger,
  });
  server.on('connection', (socket) => {
    if (unread > 0) Object.defineProperty(socket, 'bufferedAmount', { value: unread });
    handle(socket);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const socket = new WebSocket(`ws://127.0.0.1:${address.port}`);
  onTestFinished(() => {
    socket.terminate();
    return new Promise((closed) => server.close(() => closed()));
  });
  await once(socket, 'open');
  return {
    socket,
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

test('[WR1] of many requests at once the first and the newest are answered, one after the other', async () => {
  const asked: unknown[] = [];
  let left = 0;
  const first = Promise.withResolvers<void>();
  const { socket, ask } = await watcher({
    async add(_channel, request) {
      asked.push(request);
      if (asked.length === 1) await first.promise;
      return () => {
        left += 1;
      };
    },
  });
  for (const since of [1, 2, 3, 4]) socket.send(JSON.stringify({ type: 'watch', since }));
  await ask({ type: 'probe', nonce: 'all of them were read' });
  expect(asked).toEqual([{ since: 1 }]);
  first.resolve();
  await ask({ type: 'probe', nonce: 'and the newest was asked for' });
  expect(asked).toEqual([{ since: 1 }, { since: 4 }]);
  expect(left).toBe(1);
});

test('[WR1] a watcher that closes while its request is answered is not served any more', async () => {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const { socket } = await watcher({
    async add() {
      begun.resolve();
      await goOn.promise;
      return closed.resolve;
    },
  });
  socket.send('{"type":"watch"}');
  await begun.promise;
  socket.close();
  await once(socket, 'close');
  goOn.resolve();
  await closed.promise;
});

const ended: ShownCall[] = [1, 2].map((n) => ({
  ...{ id: `tc_${n}`, runId: 'run_1', createdAt: n },
  card: { status: 'SUCCESS', tool_name: 'camera', params: {} },
}));

test('[WA16] ended calls are sent to who asks for them, and nothing else is taken as a place', async () => {
  const { ask } = await watcher(undefined, { calls: ended });
  const part = endedPartSchema.parse(await ask({ type: 'ended', from: endedFrom(ended) }));
  expect(part.calls.map((one) => one.tool_call_id)).toEqual(['tc_2', 'tc_1']);
  expect(part.next).toBeNull();
  for (const from of ['', 'tc_1', '1-1-x-tc_1', 7, undefined]) {
    expect(await ask({ type: 'ended', from })).toMatchObject({ code: 'bad_message' });
  }
});

test('[WA16] a watcher that asks for parts and reads none is cut off', async () => {
  const { socket } = await watcher(undefined, { calls: ended, unread: 3 * 1024 * 1024 });
  const closed = once(socket, 'close');
  socket.send(JSON.stringify({ type: 'ended', from: endedFrom(ended) }));
  const [code] = await closed;
  expect(code).toBe(4013);
});
