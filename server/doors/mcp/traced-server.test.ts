import { expect, test } from 'vitest';
import { TASKS } from '#lib/protocol/mcp-tasks';
import { startTestReceiver } from '../../telemetry/testing/start-traces.ts';
import { setupMcp } from './testing/setup-mcp.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const CAME_IN = `00-${TRACE}-${PARENT}-01`;

/** An MCP service on real calls, whose spans go to a receiver. */
async function setup() {
  const traces = await startTestReceiver();
  const {
    send: sendBody,
    client: phone,
    asked: request,
    sent,
    ...world
  } = await setupMcp({ traces });
  const send = (id: number | string, method: string, params: object, headers = {}) =>
    sendBody({ id, method, params }, { headers, sessionId: 'nonce.signature' });
  const asked = async () => (await request())?.id ?? '';
  const received = async () => {
    await sent?.();
    return traces;
  };
  return { ...world, send, phone, asked, sent: received };
}

const echo = (meta: object = {}) => ({ name: 'echo', arguments: { text: 'canary' }, _meta: meta });

test('[TM30] [TM31] a request and its call both stand below the traceparent of _meta, and the request is linked to the call', async () => {
  const { send, phone, asked, sent } = await setup();
  const header = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`;
  const held = send('r-1', 'tools/call', echo({ traceparent: CAME_IN }), { traceparent: header });
  const id = await asked();
  await phone.succeed(id, 'done');
  await held;
  const { named, requests } = await sent();
  const [call] = named('execute_tool echo');
  const [request, ...more] = named('tools/call echo');
  expect(more).toEqual([]);
  expect(call).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
  expect(request).toMatchObject({
    ...{ traceId: TRACE, parentSpanId: PARENT, kind: 2, status: {} },
    links: [
      { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) },
      { traceId: TRACE, spanId: call?.spanId },
    ],
  });
  expect(request?.attributes).toEqual({
    ...{ 'mcp.method.name': 'tools/call', 'mcp.protocol.version': '2025-11-25' },
    ...{ 'mcp.session.id': 'nonce.signature', 'jsonrpc.request.id': 'r-1' },
    ...{ 'network.transport': 'tcp', 'network.protocol.name': 'http' },
    ...{ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'echo' },
    'gen_ai.tool.call.id': id,
  });
  expect(requests.map(({ body }) => body).join()).not.toContain('canary');
});

test('[TM31] without a traceparent in _meta the call stands below its request, whatever the HTTP header has', async () => {
  const { send, phone, asked, sent } = await setup();
  const held = send(1, 'tools/call', echo({ traceparent: 'nonsense' }), { traceparent: CAME_IN });
  await phone.succeed(await asked(), 'done');
  await held;
  const { named } = await sent();
  const [request] = named('tools/call echo');
  const [call] = named('execute_tool echo');
  expect(request).not.toHaveProperty('parentSpanId');
  expect(request?.traceId).not.toBe(TRACE);
  expect(call).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId });
});

test('[TM32] a span has the code of the protocol’s error, or that the tool failed; other requests have no tool', async () => {
  const { send, phone, asked, sent } = await setup();
  await send(1, 'tools/call', { name: 'nothing', arguments: {} });
  await send(2, 'tools/call', { name: 'words of a person', arguments: {} });
  await send(3, 'tools/list', {});
  const held = send(4, 'tools/call', echo());
  await phone.fail(await asked(), 'broken');
  await held;
  const { named } = await sent();
  expect(named('tools/call nothing')).toMatchObject([
    {
      status: { code: 2 },
      attributes: { 'error.type': '-32602', 'rpc.response.status_code': '-32602' },
    },
  ]);
  expect(named('tools/call')).toHaveLength(1);
  const [list] = named('tools/list');
  expect(list).toMatchObject({ kind: 2, status: {} });
  expect(list?.attributes).not.toHaveProperty('gen_ai.operation.name');
  const [failed] = named('tools/call echo');
  expect(failed).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'tool_error' } });
  expect(failed?.attributes).not.toHaveProperty('rpc.response.status_code');
});

test('[TM33] a call that outlives its request keeps its trace, and what asks about it is linked to it', async () => {
  const { send, sendNewest, phone, asked, clock, sent, settle } = await setup();
  const held = send(1, 'tools/call', echo());
  const id = await asked();
  clock.advance(50_000);
  await held;
  await sendNewest('tasks/get', id, { taskId: id }, { extensions: { [TASKS]: {} } });
  const args = { name: 'callboard_result', arguments: { call: id, wait_s: 0 } };
  await send(2, 'tools/call', args);
  clock.advance(1_000);
  await phone.succeed(id, 'done');
  await settle();
  const { named } = await sent();
  const [request] = named('tools/call echo');
  const [call] = named('execute_tool echo');
  expect(call).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId });
  expect(Number(call?.endTimeUnixNano)).toBeGreaterThan(Number(request?.endTimeUnixNano));
  for (const name of ['tasks/get', 'tools/call callboard_result']) {
    expect(named(name)).toMatchObject([
      {
        links: [{ traceId: call?.traceId, spanId: call?.spanId }],
        attributes: { 'gen_ai.tool.call.id': id },
      },
    ]);
  }
  expect(named('tasks/get')[0]?.attributes).toMatchObject({
    'mcp.protocol.version': '2026-07-28',
  });
});
