import {
  type ReceivedSpan,
  startOtlpReceiver,
} from '../../server/telemetry/testing/otlp-receiver.ts';
import type { Callboard } from '../start-callboard.ts';
import { get } from './kit/ask.ts';
import { finalCall, invoke } from './kit/calls.ts';
import { expect, test } from './kit/contract-test.ts';
import { asToken, makeToken } from './kit/tokens.ts';
import { reader, spec } from './kit/tool-client.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

const ofCall = (spans: readonly ReceivedSpan[], id: unknown) =>
  spans.filter(
    ({ name, attributes }) =>
      name.startsWith('execute_tool') && attributes['gen_ai.tool.call.id'] === id,
  );

/** `tools/call` with the trace in its `_meta`. */
async function callByMcp({ url, token }: Pick<Callboard, 'url' | 'token'>, name: string) {
  const params = { name, arguments: {}, _meta: { traceparent: TRACEPARENT } };
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  return response.text();
}

test('[TM7] [TM8] [TM10] [TM14] spans of calls by HTTP and MCP stand below what came in, also after kill -9', async ({
  connect,
  startServer,
}) => {
  const receiver = await startOtlpReceiver();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, CALLBOARD_LOG_LEVEL: 'debug' };
  const first = await startServer({ env });
  const client = await connect.client(first, {
    hello: { client_id: 'c' },
    tools: [reader('page.look'), spec('page.press', { timeout_ms: 1_000 })],
  });

  const response = await fetch(`${first.url}/v1/tools/page.look/invoke`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${first.token}`, 'content-type': 'application/json' },
      traceparent: TRACEPARENT,
    },
    body: JSON.stringify({ run_id: 'r', args: {} }),
  });
  expect(response.status).toBe(202);
  const byHttp = await client.request();
  client.succeed(byHttp.id, 'seen');
  await finalCall(first, byHttp.id);

  const token = await makeToken(first, { kind: 'agent', name: 'coder', tools: ['page.*'] });
  const answered = callByMcp(asToken(first, token), 'page_look');
  const byMcp = await client.request();
  client.succeed(byMcp.id, 'seen');
  expect(await answered).toContain('seen');

  await expect.poll(() => receiver.spans.length, { timeout: 15_000 }).toBeGreaterThan(7);
  const cut = await invoke(first, 'page.press');
  const request = await client.request();
  expect(first.log()).toMatch(new RegExp(`A call goes on tool_call_id=${cut} run_id=`));
  await first.stop('SIGKILL');

  const second = await startServer({ env, dataDir: first.dataDir, token: first.token });
  await finalCall(second, cut);
  // The end of a server sends what waits.
  await second.stop();
  await receiver.close();

  expect(receiver.problems).toEqual([]);
  for (const { id, traceparent } of [byHttp, byMcp]) {
    const [span, ...more] = ofCall(receiver.spans, id);
    expect(more).toEqual([]);
    expect(span).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
    expect(traceparent).toBe(`00-${TRACE}-${span?.spanId}-01`);
  }
  const [span, ...more] = ofCall(receiver.spans, cut);
  expect(more).toEqual([]);
  expect(request.traceparent).toBe(`00-${span?.traceId}-${span?.spanId}-01`);
});

test('[TM12] a receiver that is down costs a counter, and 1,000 names of tools as many rows as TM2 has', async ({
  connect,
  startServer,
}) => {
  const receiver = await startOtlpReceiver();
  await receiver.close();
  const board = await startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint } });
  for (let at = 0; at < 4; at += 1) {
    const names = Array.from({ length: 250 }, (_, of) => `many${at}.t${of}`);
    const client = await connect.client(board, { tools: names.map((name) => reader(name)) });
    const asked = names.map((name) => invoke(board, name));
    for (const _ of names) client.succeed((await client.request()).id, 'x');
    for (const id of await Promise.all(asked)) {
      expect(await finalCall(board, id)).toMatchObject({ status: 'SUCCEEDED' });
    }
  }
  const { text } = await get(board, '/metrics');
  expect(text.match(/^callboard_tool_calls_total\{/gm)).toHaveLength(201);
  const dropped = Number(/^callboard_traces_dropped_total (\d+)$/m.exec(text)?.[1]);
  // One batch of 5,000 spans is on its way, and the queue is full.
  expect(dropped).toBeGreaterThan(2_000);
  expect(text).toContain('callboard_traces_exported_total 0\n');
});
