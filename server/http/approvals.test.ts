import { expect, test } from 'vitest';
import { callRecord } from './testing/fake-services.ts';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

const waiting = (n: number, key: string, more: object = {}) =>
  callRecord({
    ...{ id: `tc_${n}`, createdAt: 1_000 + n, phase: 'approval', requestedBy: 'run:run_a' },
    card: {
      ...{ status: 'WAIT', phase: 'approval', tool_name: 'pay', approval_key: key },
      ...{ params: { n }, approval_reason: 'it has effects', client_name: 'Till' },
      clock: { name: 'approval', deadline_at: 600 },
    },
    ...more,
  });

async function setup() {
  const server = await startTestServer();
  const put = (record: ReturnType<typeof waiting>) =>
    server.calls.fake.records.set(record.id, record);
  const ids = async (query = '', more: object = {}) => {
    const { json } = await server.get(`/v1/approvals${query}`, more);
    return json.approvals.map((one: { tool_call_id: string }) => one.tool_call_id);
  };
  return { server, put, ids };
}

test('[HT71] the inbox lists what waits, oldest first, and what is the same once', async () => {
  const { server, put } = await setup();
  put(waiting(3, 'b', { runId: 'run_b' }));
  put(waiting(1, 'a'));
  put(waiting(2, 'a'));
  put(callRecord({ id: 'tc_9', phase: 'queued' }));
  const { status, json } = await server.get('/v1/approvals');
  expect([status, json.next_cursor]).toEqual([200, null]);
  expect(json.approvals).toMatchObject([
    {
      ...{ tool_call_id: 'tc_1', run_id: 'run_a', tool_name: 'pay', client_name: 'Till' },
      ...{ requested_by: 'run:run_a', reason: 'it has effects', args: { n: 1 }, key: 'a' },
      ...{ expires_at: 600, created_at: 1.001, equal_calls: 2 },
    },
    { tool_call_id: 'tc_3', run_id: 'run_b', equal_calls: 1 },
  ]);
});

test('[HT71] it comes by page, and large arguments by their beginning', async () => {
  const { server, put, ids } = await setup();
  for (let n = 1; n <= 3; n += 1) put(waiting(n, `k${n}`));
  const { json } = await server.get('/v1/approvals?limit=2');
  expect(json.next_cursor).toBe('1002:tc_2');
  // What is decided meanwhile moves nothing.
  server.calls.fake.records.delete('tc_2');
  expect(await ids(`?limit=2&cursor=${json.next_cursor}`)).toEqual(['tc_3']);
  expect((await server.get('/v1/approvals?cursor=x')).status).toBe(400);
  const card = { ...waiting(4, 'k4').card, params: { text: 'x'.repeat(9_000) } };
  put(waiting(4, 'k4', { card }));
  const [large] = (await server.get('/v1/approvals?cursor=1003:tc_3')).json.approvals;
  expect(large.args_bytes).toBeGreaterThan(9_000);
  expect(JSON.stringify(large.args).length).toBeLessThan(1_500);
});

test('[HT71] a viewer sees all of it, and an agent what waits of its own runs', async () => {
  const { put, ids } = await setup();
  put(waiting(1, 'a'));
  put(waiting(2, 'b', { ownerToken: 'tok_helper' }));
  expect(await ids('', { token: TOKENS.viewer })).toEqual(['tc_1', 'tc_2']);
  expect(await ids('', { token: TOKENS.agent })).toEqual(['tc_2']);
});
