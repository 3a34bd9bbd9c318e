import { setImmediate as turn } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { Connection } from './connect-server.ts';
import { type LinkDeps, ServerLink } from './server-link.ts';

/** A link whose connections are counted, and are closed only when the test lets them. */
function setup({ opened = async () => {} }: Partial<Pick<LinkDeps, 'opened'>> = {}) {
  const open = new Set<Connection>();
  const closing = Promise.withResolvers<void>();
  const clock = createManualClock();
  let made = 0;
  const link = new ServerLink({
    connect: async () => {
      made += 1;
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
  return { link, open, closing, clock, made: () => made };
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
