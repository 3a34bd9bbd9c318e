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

/** Traces whose receiver is asked at the end; `ask` makes the span of a request with that id. */
async function setup(hide = (text: string) => text) {
  const receiver = await startOtlpReceiver();
  onTestFinished(receiver.close);
  const clock = createManualClock();
  const tracing = createTracing({
    config: { url: `${receiver.endpoint}/v1/traces`, headers: {}, resource: {}, secrets: [] },
    ...{ version: '1', clock, logger: createErrorLog().logger, hide },
  });
  function ask(id: string) {
    const asked = { method: 'ping', tool: undefined, meta: undefined, sessionId: undefined };
    const span = beginMcpRequest(tracing, { ...asked, id, headers: undefined }, clock.now());
    span.end({ isError: false });
  }
  async function idsSent() {
    await tracing.close(5_000);
    expect(receiver.problems).toEqual([]);
    return receiver.spans.map(({ attributes }) => String(attributes['jsonrpc.request.id']));
  }
  return { ask, idsSent };
}

test('[TM16] of a secret that a cut goes through nothing is sent', async () => {
  const { ask, idsSent } = await setup((text) => text.replaceAll('canary-7f3a', '[hidden]'));
  ask(`${'x'.repeat(250)}canary-7f3a`);
  expect(await idsSent()).toEqual([`${'x'.repeat(250)}[hidde`]);
});

test('[TM39] spans that wait keep no long text of a caller in memory', async () => {
  const { ask, idsSent } = await setup();
  const before = heapBytes();
  for (let at = 0; at < 100; at += 1) {
    ask(JSON.parse(JSON.stringify(`${at}-${'x'.repeat(LONG)}`)));
  }
  expect(heapBytes() - before).toBeLessThan(20 * LONG);
  const ids = await idsSent();
  expect(ids).toHaveLength(100);
  expect(new Set(ids.map((id) => id.length))).toEqual(new Set([256]));
});
