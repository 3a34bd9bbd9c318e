import { setImmediate as turn } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { Connection, ConnectionEvents } from './connect-server.ts';
import { type LinkDeps, ServerLink } from './server-link.ts';

/** A link whose connections are counted, and are closed only when the test lets them. */
function setup({ opened = async () => {} }: Partial<Pick<LinkDeps, 'opened'>> = {}) {
  const open = new Set<Connection>();
  const closing = Promise.withResolvers<void>();
  const clock = createManualClock();
  let made = 0;
  let events: Pick<ConnectionEvents, 'closed' | 'failed'> | undefined;
  const link = new ServerLink({
    connect: async (options) => {
      made += 1;
      events = options;
      const connection: Connection = {
        client: new Client({ name: 'test', version: '1' }),
        ...{ version: '2026-07-28', era: 'modern', server: null },
        async close() {
          await closing.promise;
          open.delete(connection);
        },
      };
      open.add(connection);
      return connection;
    },
    opened,
    ...{ listChanged() {}, wrote() {}, changed() {} },
    ...{ clock, random: () => 0 },
  });
  return { link, open, closing, clock, made: () => made, events: () => events };
}

async function connected() {
  const world = setup();
  world.link.start();
  await turn();
  expect(world.link.status.state).toBe('connected');
  return world;
}

test('[MC40] asked twice to connect anew, a link has one connection, and none once it is stopped', async () => {
  const { link, open, closing, made } = await connected();
  const asked = [link.reconnect(), link.reconnect()];
  await turn();
  closing.resolve();
  await Promise.all(asked);
  await turn();
  expect(link.status.state).toBe('connected');
  expect([made(), open.size]).toEqual([2, 1]);
  await link.stop();
  expect(open.size).toBe(0);
});

test('[MC40] while the old connection is closed the state is that of one that connects', async () => {
  const { link, closing } = await connected();
  const asked = link.reconnect();
  expect(link.status.state).toBe('connecting');
  expect(link.connection).toBeUndefined();
  closing.resolve();
  await asked;
  await link.stop();
});

test('[MC20] a connection that cannot be closed does not end the attempts', async () => {
  const { link, closing, clock, made } = setup({
    opened: () => Promise.reject(new Error('no list')),
  });
  closing.reject(new Error('may not be ended'));
  link.start();
  await turn();
  expect(link.status).toMatchObject({ state: 'failed', lastError: { message: 'no list' } });
  clock.advance(1_000);
  await turn();
  expect(made()).toBe(2);
});

test('[MC20] the last error of a connection that its server closed is that, or the one just before', async () => {
  const { link, events, clock } = await connected();
  events()?.failed(new Error('an early error'));
  clock.advance(5_000);
  events()?.closed();
  expect(link.status).toMatchObject({
    state: 'waiting',
    lastError: { message: 'The server closed the connection, or its program ended.' },
  });
  clock.advance(1_000);
  await turn();
  events()?.failed(new Error('reset by the peer'));
  events()?.closed();
  expect(link.status.lastError?.message).toBe('reset by the peer');
});

test('[MC20] of an error that a server makes long the beginning is kept', async () => {
  const { link, events } = await connected();
  events()?.failed(new Error('x'.repeat(1_000_000)));
  expect(link.status.lastError?.message).toBe('x'.repeat(8_000));
});
