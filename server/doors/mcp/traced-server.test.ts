import { expect, onTestFinished, test } from 'vitest';
import { TASKS } from '#lib/protocol/mcp-tasks';
import type { Agent } from '../../auth/principal.ts';
import { setupCalls } from '../../calls/testing/setup-calls.ts';
import { startOtlpReceiver } from '../../telemetry/testing/otlp-receiver.ts';
import { createTracing } from '../../telemetry/tracing.ts';
import { createMcpService } from './create-mcp-service.ts';
import { mcpConfigSchema } from './mcp-config.ts';

const AGENT: Agent = { kind: 'agent', name: 'coder', tokenId: 'tok_1', tools: ['echo'] };
const ECHO = { name: 'echo', description: 'Echoes', parameters: { type: 'object' } };
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const CAME_IN = `00-${TRACE}-${PARENT}-01`;
const META = 'io.modelcontextprotocol';

/** An MCP service on real calls, whose spans go to a receiver. */
async function setup() {
  const receiver = await startOtlpReceiver();
  onTestFinished(receiver.close);
  let observe: ReturnType<typeof createTracing>['observe'] = () => {};
  const world = await setupCalls({
    ...{ isTracing: true, onDurable: (...states) => observe(...states) },
  });
  const { clock, logger, store } = world;
  const tracing = createTracing({
    config: { url: `${receiver.endpoint}/v1/traces`, headers: {}, resource: {}, secrets: [] },
    ...{ version: '1', clock, logger, hide: (text) => text },
  });
  observe = tracing.observe;
  const mcp = createMcpService({
    ...{ ...world, history: store.history, spans: tracing },
    blobs: { find: async () => undefined, read: async () => undefined },
    sources: {
      blobs: { read: async () => undefined },
      scale: async () => ({ ok: false, code: 'unavailable', message: '' }),
    },
    ...{ key: 'key', config: mcpConfigSchema.parse({}), publicUrl: undefined },
    ...{ keepDays: undefined, closing: new AbortController().signal },
  });
  async function post(message: object, headers: Record<string, string>, sessionId?: string) {
    const given = { 'content-type': 'application/json', ...headers };
    const { signal } = new AbortController();
    const body = { jsonrpc: '2.0', ...message };
    const room = { makeRoom: async () => {}, resizeRoom: () => {} };
    const asked = { agent: AGENT, headers: given, signal, body, sessionId, ...room };
    const answer = await mcp.answer(asked);
    return answer instanceof Response ? answer.text() : JSON.stringify(answer.json);
  }
  const legacy = { 'mcp-protocol-version': '2025-11-25' };
  const send = (id: number | string, method: string, params: object, headers = {}) =>
    post({ id, method, params }, { ...legacy, ...headers }, 'nonce.signature');
  /** By the revision 2026-07-28, as a client that takes tasks. */
  const sendModern = (method: string, params: { name?: string; taskId?: string }) => {
    const _meta = {
      [`${META}/protocolVersion`]: '2026-07-28',
      [`${META}/clientInfo`]: { name: 'test', version: '1' },
      [`${META}/clientCapabilities`]: { extensions: { [TASKS]: {} } },
    };
    const name = params.name ?? params.taskId;
    const headers = {
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
      ...(name !== undefined && { 'mcp-name': name }),
    };
    return post({ id: 1, method, params: { ...params, _meta } }, headers);
  };
  const phone = world.connect('phone');
  phone.offer({ ...ECHO, timeout_ms: 600_000 });
  const asked = async (count = 1) => {
    await expect.poll(() => phone.requests().length).toBe(count);
    return phone.requests()[count - 1]?.id ?? '';
  };
  const sent = async () => {
    await tracing.close(60_000);
    expect(receiver.problems).toEqual([]);
    return receiver;
  };
  return { ...world, send, sendModern, phone, asked, sent };
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
  const { send, sendModern, phone, asked, clock, sent, settle } = await setup();
  const held = send(1, 'tools/call', echo());
  const id = await asked();
  clock.advance(50_000);
  await held;
  await sendModern('tasks/get', { taskId: id });
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
