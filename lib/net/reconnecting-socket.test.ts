import { expect, test } from 'vitest';
import { ReconnectingSocket, type SocketStatus } from './reconnecting-socket.ts';
import { createTestWorld } from './testing/test-socket.ts';

interface Message {
  readonly type: string;
  readonly nonce?: string;
}

function setup(given: { isRefused?: boolean; beforeRetry?: () => Promise<void> } = {}) {
  const world = createTestWorld();
  const statuses: SocketStatus[] = [];
  const received: unknown[] = [];
  const problems: string[] = [];
  const socket = new ReconnectingSocket<Message, Message>({
    url: 'ws://test',
    protocols: [],
    environment: world.environment,
    parse: (data) => JSON.parse(String(data)),
    ackNonce: ({ nonce }) => nonce,
    createProbe: (nonce) => ({ type: 'probe', nonce }),
    isRefused: async () => given.isRefused ?? false,
    ...(given.beforeRetry && { beforeRetry: given.beforeRetry }),
    onOpen: () => {},
    onMessage: (message) => received.push(message),
    onDown: () => {},
    onStatus: (status) => statuses.push(status),
    onProblem: (message) => problems.push(message),
  });
  socket.start();
  return { ...world, link: world.socket, socket, statuses, received, problems };
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

test('[CL2] what comes of a socket that was given up is ignored', () => {
  const { link, sockets, received, pass } = setup();
  pass(5_000);
  expect(link.closedWith).toBe(4000);
  pass(500);
  link.open();
  link.receive({ type: 'late' });
  link.lose(4401);
  expect([received, sockets.length]).toEqual([[], 2]);
  sockets[1]?.open();
  sockets[1]?.receive({ type: 'new' });
  expect(received).toEqual([{ type: 'new' }]);
});

test('[CL3] the deadline counts until the connection is ready, not until it is open', () => {
  const { link, socket, statuses, sockets, pass } = setup();
  link.open();
  pass(5_000);
  expect(statuses.at(-1)).toMatchObject({ state: 'reconnecting' });
  pass(500);
  sockets[1]?.open();
  socket.ready(0);
  pass(60_000);
  expect(statuses.at(-1)).toEqual({ state: 'connected' });
});

test('[CL5] after an attempt that never opened it asks whether it is refused, and then stops', async () => {
  const { statuses, sockets, pass } = setup({ isRefused: true });
  pass(5_000);
  await expect.poll(() => statuses.at(-1)).toMatchObject({ state: 'refused', code: 4401 });
  pass(600_000);
  expect(sockets).toHaveLength(1);
});

test('[CL31] put away, it closes its socket, and connects at once when it wakes', () => {
  const { link, socket, sockets, putAway, wake } = setup();
  link.open();
  socket.ready(0);
  putAway();
  putAway();
  expect(link.closedWith).toBe(4000);
  wake();
  expect(sockets).toHaveLength(2);
});

test('no attempt is made before what has to precede it has resolved', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { link, socket, sockets, statuses, pass, wake } = setup({ beforeRetry: () => promise });
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

test('stopped and started again meanwhile, it does not plan a second attempt', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { link, socket, sockets, pass } = setup({ beforeRetry: () => promise });
  link.open();
  link.lose();
  socket.stop('stopped');
  socket.start();
  resolve();
  await promise;
  pass(4_999);
  expect(sockets).toHaveLength(2);
});
