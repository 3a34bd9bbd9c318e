import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { createErrorLog } from '../testing/error-log.ts';
import { beginMcpRequest } from './mcp-request-trace.ts';
import { startOtlpReceiver } from './testing/otlp-receiver.ts';
import { createTracing } from './tracing.ts';

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

const LONG = 1_000_000;

test('[TM16] of a secret that a cut goes through nothing is sent', async () => {
  const receiver = await startOtlpReceiver();
  onTestFinished(receiver.close);
  const clock = createManualClock();
  const tracing = createTracing({
    config: { url: `${receiver.endpoint}/v1/traces`, headers: {}, resource: {}, secrets: [] },
    ...{ version: '1', clock, logger: createErrorLog().logger },
    hide: (text) => text.replaceAll('canary-7f3a', '[hidden]'),
  });
  const asked = { method: 'ping', tool: undefined, meta: undefined, sessionId: undefined };
  const id = `${'x'.repeat(250)}canary-7f3a`;
  beginMcpRequest(tracing, { ...asked, id, headers: undefined }, clock.now()).end({
    isError: false,
  });
  await tracing.close(5_000);
  const [sent] = receiver.spans;
  expect(sent?.attributes['jsonrpc.request.id']).toBe(`${'x'.repeat(250)}[hidde`);
});

test('[TM39] spans that wait keep no long text of a caller in memory', async () => {
  const receiver = await startOtlpReceiver();
  onTestFinished(receiver.close);
  const clock = createManualClock();
  const tracing = createTracing({
    config: { url: `${receiver.endpoint}/v1/traces`, headers: {}, resource: {}, secrets: [] },
    ...{ version: '1', clock, logger: createErrorLog().logger, hide: (text) => text },
  });
  const before = heapBytes();
  for (let at = 0; at < 100; at += 1) {
    const id: string = JSON.parse(JSON.stringify(`${at}-${'x'.repeat(LONG)}`));
    const asked = { method: 'ping', tool: undefined, meta: undefined, sessionId: undefined };
    beginMcpRequest(tracing, { ...asked, id, headers: undefined }, clock.now()).end({
      isError: false,
    });
  }
  expect(heapBytes() - before).toBeLessThan(20 * LONG);
  await tracing.close(5_000);
  expect(receiver.spans).toHaveLength(100);
  const ids = receiver.spans.map(({ attributes }) => String(attributes['jsonrpc.request.id']));
  expect(new Set(ids.map((id) => id.length))).toEqual(new Set([256]));
  expect(receiver.problems).toEqual([]);
});
