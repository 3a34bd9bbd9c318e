import { expect, test } from 'vitest';
import { ReconnectingSocket, type SocketStatus } from './reconnecting-socket.ts';
import { createTestWorld } from './testing/test-socket.ts';

interface Message {
  readonly type: string;
  readonly nonce?: string;
}

function setup(beforeRetry?: () => Promise<void>) {
  const world = createTestWorld();
  const statuses: SocketStatus[] = [];
  const socket = new ReconnectingSocket<Message, Message>({
    url: 'ws://test',
    protocols: [],
    environment: world.environment,
    parse: (data) => JSON.parse(String(data)),
    ackNonce: ({ nonce }) => nonce,
    createProbe: (nonce) => ({ type: 'probe', nonce }),
    isRefused: async () => false,
    ...(beforeRetry && { beforeRetry }),
    onOpen: () => {},
    onMessage: () => {},
    onDown: () => {},
    onStatus: (status) => statuses.push(status),
    onProblem: () => {},
  });
  socket.start();
  return { ...world, link: world.socket, socket, statuses };
}

test('[CL2] nothing is sent before a socket is open, nor after it ended', () => {
  const { socket, link } = setup();
  expect(socket.send({ type: 'a' })).toBe(false);
  link.open();
  expect(socket.send({ type: 'b' })).toBe(true);
  link.lose();
  expect(socket.send({ type: 'c' })).toBe(false);
  expect(link.sent).toEqual([{ type: 'b' }]);
});

test('no attempt is made before what has to precede it has resolved', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { link, socket, sockets, statuses, pass, wake } = setup(() => promise);
  link.open();
  link.lose();
  wake();
  socket.retryNow();
  pass(60_000);
  expect(sockets).toHaveLength(1);
  const before = statuses.length;
  resolve();
  await expect.poll(() => statuses.length).toBe(before + 1);
  pass(1_000);
  expect(sockets).toHaveLength(2);
});
