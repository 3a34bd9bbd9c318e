import { expect, test } from 'vitest';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

test('[HT230] an operator disconnects a client, and that is written down', async () => {
  const server = await startTestServer();
  const { status, json } = await server.post('/v1/clients/client_1/disconnect', {});
  expect([status, json]).toEqual([200, { ok: true, connections: 2 }]);
  expect(server.audited).toMatchObject([
    { act: 'client_disconnected', target: 'client_1', detail: { connections: 2 } },
  ]);
});

test('[HT230] a client that is not connected is refused as such, and nothing is written', async () => {
  const server = await startTestServer();
  const { status } = await server.post('/v1/clients/client_2/disconnect', {});
  expect([status, server.audited]).toEqual([404, []]);
});

test.each(['agent', 'device', 'viewer'] as const)(
  '[HT230] a caller with the %s token disconnects no client',
  async (who) => {
    const server = await startTestServer();
    const token = TOKENS[who];
    const { status } = await server.post('/v1/clients/client_1/disconnect', {}, { token });
    expect([status, server.audited]).toEqual([403, []]);
  },
);

const invoke = { run_id: 'run_b', args: {}, by: 'program' };

test('[HT231] a call that a program decided with a person’s credential is that of a run, and no act of the person', async () => {
  const server = await startTestServer();
  await server.post('/v1/tools/echo/invoke', invoke);
  expect(server.calls.fake.asked[0]?.args).toMatchObject([
    { principal: { kind: 'run', runId: 'run_b', owner: { kind: 'operator' } } },
  ]);
  expect(server.audited).toEqual([]);
});

test('[HT231] an agent stays the agent that it is, so that its runs are its own', async () => {
  const server = await startTestServer();
  await server.post('/v1/tools/echo/invoke', invoke, { token: TOKENS.agent });
  expect(server.calls.fake.asked[0]?.args).toMatchObject([{ principal: { kind: 'agent' } }]);
});
