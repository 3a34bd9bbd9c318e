import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { beginMcpRequest } from './mcp-request-trace.ts';
import { startTestReceiver, traceTo } from './testing/start-traces.ts';

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

const LONG = 1_000_000;

/** Traces whose receiver is asked at the end; `ask` makes the span of a request with that id. */
async function setup(hide?: (text: string) => string) {
  const clock = createManualClock();
  const { tracing, sent } = traceTo(await startTestReceiver(), clock, hide);
  function ask(id: string) {
    const asked = { method: 'ping', tool: undefined, meta: undefined, sessionId: undefined };
    const span = beginMcpRequest(tracing, { ...asked, id, headers: undefined }, clock.now());
    span.end({ isError: false });
  }
  const idsSent = async () =>
    (await sent()).spans.map(({ attributes }) => String(attributes['jsonrpc.request.id']));
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
