import { expect, test } from 'vitest';
import { z } from 'zod';
import { type SetupOptions, setupCalls } from '../calls/testing/setup-calls.ts';
import { defineTool } from '../tools/define-tool.ts';
import { startTestReceiver, traceTo } from './testing/start-traces.ts';
import { parseTraceparent } from './trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CAME_IN = `00-${TRACE}-b7ad6b7169203331-01`;
const ECHO = { name: 'echo', description: 'Echoes', parameters: { type: 'object' } };

/** Calls whose spans go to a receiver. */
async function setup(options: SetupOptions = {}) {
  const world = await setupCalls({ isTracing: true, ...options });
  const { tracing, sent } = traceTo(await startTestReceiver(), world.clock);
  world.calls.onDurable(tracing.observe);
  return { ...world, sent };
}

test('[TM7] [TM10] [TM18] a call of a client has one span below what came in, and one for each part', async () => {
  const { invoke, connect, clock, sent, settle } = await setup();
  const phone = connect('phone', { claims: true });
  phone.offer(ECHO);
  const { id } = await invoke('echo', {}, { traceparent: CAME_IN });
  await expect.poll(() => phone.requests().length).toBe(1);
  const given = parseTraceparent(phone.requests()[0]?.traceparent);
  clock.advance(10);
  await phone.claim(id, 1);
  clock.advance(100);
  await phone.succeed(id, 'done', 1);
  await settle();
  const [span, ...parts] = (await sent()).spans;
  expect(span).toMatchObject({
    ...{ name: 'execute_tool echo', traceId: TRACE, parentSpanId: 'b7ad6b7169203331' },
    attributes: {
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.type': 'function',
      'callboard.attempt': 1,
    },
  });
  expect(given).toEqual({ traceId: TRACE, spanId: span?.spanId, isSampled: true });
  expect(parts.map(({ name }) => name)).toEqual(['queue', 'offer', 'execute', 'acknowledge']);
  for (const part of parts) expect(part.parentSpanId).toBe(span?.spanId);
  const lengthOf = (name: string) => {
    const part = parts.find((one) => one.name === name);
    return Number(part?.endTimeUnixNano) / 1e6 - Number(part?.startTimeUnixNano) / 1e6;
  };
  expect([lengthOf('offer'), lengthOf('execute')]).toEqual([10, 100]);
});

test('[TM16] no span has what the call was given, or gave', async () => {
  const { invoke, connect, sent, settle } = await setup();
  const phone = connect('phone');
  phone.offer(ECHO);
  const { id } = await invoke('echo', { text: 'canary-in' });
  await expect.poll(() => phone.requests().length).toBe(1);
  await phone.fail(id, 'canary-out');
  await settle();
  const { requests, spans } = await sent();
  const [span] = spans;
  expect(span).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'tool_error' } });
  expect(requests.map(({ body }) => body).join()).not.toContain('canary');
});

test('[TM10] [TM18] a call below a span that is not sampled has none, and is passed on as it came', async () => {
  const { invoke, connect, sent, settle } = await setup();
  const phone = connect('phone');
  phone.offer(ECHO);
  const traceparent = `${CAME_IN.slice(0, -2)}00`;
  const { id } = await invoke('echo', {}, { traceparent });
  await expect.poll(() => phone.requests()[0]?.traceparent).toBe(traceparent);
  await phone.succeed(id, 'x');
  await settle();
  expect((await sent()).spans).toEqual([]);
});

test('[TM18] a tool of the server has the span of its call', async () => {
  const given: unknown[] = [];
  const look = defineTool({
    ...{
      name: 'look',
      displayName: 'Look',
      description: 'Looks',
      args: z.object({}),
      effect: 'read',
      timeoutMs: 5_000,
    },
    run: async (_, { traceparent }) => {
      given.push(traceparent);
      return { output: null };
    },
  });
  const { invoke, sent, settle } = await setup({ tools: [look] });
  await invoke('look');
  await expect.poll(() => given.length).toBe(1);
  await settle();
  const [span] = (await sent()).spans;
  expect(span?.attributes['gen_ai.tool.type']).toBe('extension');
  expect(given).toEqual([`00-${span?.traceId}-${span?.spanId}-01`]);
});

test('[TM7] a late result makes no second span', async () => {
  const { connect, invoke, settle, sent, clock } = await setup();
  const phone = connect('phone');
  phone.offer({ ...ECHO, timeout_ms: 1_000 });
  const { id } = await invoke('echo');
  await expect.poll(() => phone.requests().length).toBe(1);
  clock.advance(60_000);
  await settle();
  await phone.succeed(id, 'late');
  await settle();
  const { spans } = await sent();
  expect(spans.filter(({ name }) => name === 'execute_tool echo')).toHaveLength(1);
});
