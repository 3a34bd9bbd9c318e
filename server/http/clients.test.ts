import { expect, test } from 'vitest';
import { startTestServer } from './testing/start-test-server.ts';

test('[HT230] an operator disconnects a client, and that is written down', async () => {
  const server = await startTestServer();
  const { status, json } = await server.post('/v1/clients/client_1/disconnect', {});
  expect([status, json]).toEqual([200, { ok: true, connections: 2 }]);
  expect(server.audited).toMatchObject([
    { act: 'client_disconnected', target: 'client_1', detail: { connections: 2 } },
  ]);
});

const invoke = { run_id: 'run_b', args: {}, by: 'program' };

test('[HT231] a call that a program decided with a person’s credential is that of a run, and no act of the person', async () => {
  const server = await startTestServer();
  await server.post('/v1/tools/echo/invoke', invoke);
  expect(server.calls.fake.asked[0]?.args).toMatchObject([
    { principal: { kind: 'run', runId: 'run_b', owner: { kind: 'operator' } } },
  ]);
  expect(server.audited).toEqual([]);
});
