import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { ALLOW_ALL } from '../calls/testing/allow-all.ts';
import { systemClock } from '../runs/agent/testing/fakes.ts';
import { openParts, serveRuns } from '../runs/testing/serve-runs.ts';
import { createScriptedOpenAI, type Script } from '../testing/scripted-openai.ts';
import { createCalculationEval } from '../tools/builtin/calculate.ts';
import { OwnTools } from '../tools/own-tools.ts';
import { startTestReceiver, traceTo } from './testing/start-traces.ts';

const CAME_IN = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const MODEL = 'openai-chat:gpt-4o';
const CALL = { name: 'calculation_eval', args: { expression: '6 * 7' } };
const calculates: Script = ({ index }) => (index === 0 ? { calls: [CALL] } : { text: '42' });

const newWorld = async () => ({ dir: tempDir(), receiver: await startTestReceiver() });

/** A server with the built-in agent, whose spans go to the receiver; a second one goes on with the data. */
async function serve({ dir, receiver }: Awaited<ReturnType<typeof newWorld>>, script: Script) {
  const openai = await createScriptedOpenAI({ script });
  onTestFinished(openai.close);
  const parts = await openParts(dir, [new OwnTools([createCalculationEval()])]);
  const { tracing, sent } = traceTo(receiver, systemClock);
  const served = serveRuns({
    ...{ parts, openaiUrl: openai.url, policy: ALLOW_ALL, models: {}, tracing },
    subAgent: () => ({ prompt: '', budget: { seconds: null, calls: null, tokens: null } }),
  });
  await served.recover();
  const idle = (runId: string) =>
    expect
      .poll(async () => (await served.runs.get(runId))?.status, { timeout: 5_000 })
      .toBe('idle');
  const stop = async () => {
    await served.close();
    return (await sent()).spans;
  };
  return { ...served, openai, idle, stop };
}

test('[TM17] [TM18] a turn has a span, and its requests and calls stand below it', async () => {
  const world = await newWorld();
  const server = await serve(world, calculates);
  const runId = await server.start('six times seven', { model: MODEL, traceparent: CAME_IN });
  await server.idle(runId);
  expect((await server.runs.get(runId))?.trace).toBeUndefined();
  const spans = await server.stop();
  const { named } = world.receiver;
  const [turn] = named('invoke_agent callboard');
  expect(turn).toMatchObject({
    ...{ traceId: '0af7651916cd43dd8448eb211c80319c', parentSpanId: 'b7ad6b7169203331' },
    attributes: {
      ...{ 'gen_ai.conversation.id': runId, 'gen_ai.provider.name': 'openai' },
      'gen_ai.request.model': 'gpt-4o',
    },
  });
  const below = [...named('chat gpt-4o'), ...named('execute_tool calculation.eval')];
  expect(below).toHaveLength(3);
  for (const span of below) {
    expect(span).toMatchObject({ traceId: turn?.traceId, parentSpanId: turn?.spanId });
  }
  expect(below[0]).toMatchObject({ kind: 3, attributes: { 'gen_ai.operation.name': 'chat' } });
  expect(server.openai.requests.map(({ traceparent }) => traceparent)).toEqual(
    named('chat gpt-4o').map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
  );
  expect(spans.filter(({ name }) => name.startsWith('invoke_agent'))).toHaveLength(1);
});

test('[TM17] [TM38] each turn of a run is a trace, with the tokens of its own requests', async () => {
  const world = await newWorld();
  const usage = { input: 1_200, output: 34, reasoning: 30, cached: 1_024 };
  const server = await serve(world, ({ index }) =>
    index === 0 ? { calls: [CALL], usage } : { text: 'Hello', usage },
  );
  const runId = await server.start('Hello', { model: MODEL });
  await server.idle(runId);
  await server.runs.send(runId, { input: 'Hello again' });
  await expect.poll(() => server.openai.requests.length).toBe(3);
  await server.idle(runId);
  await server.stop();
  const turns = world.receiver.named('invoke_agent callboard');
  expect(new Set(turns.map(({ traceId }) => traceId)).size).toBe(2);
  const tokens = turns.map(({ attributes }) => [
    attributes['gen_ai.usage.input_tokens'],
    attributes['gen_ai.usage.output_tokens'],
  ]);
  expect(tokens).toEqual([
    [2_400, 68],
    [1_200, 34],
  ]);
});

test('[TM17] a turn that a stop cut has one span, from its true start, when another server has ended it', async () => {
  const world = await newWorld();
  const never = Promise.withResolvers<void>();
  onTestFinished(() => never.resolve());
  const before = await serve(world, ({ index }) =>
    index === 0 ? { calls: [CALL] } : { text: 'x', stall: { at: 0, until: never.promise } },
  );
  const startedAt = Date.now();
  const runId = await before.start('six times seven', { model: MODEL });
  await expect.poll(() => before.openai.requests.length).toBe(2);
  await before.stop();
  const restartedAt = Date.now();
  const after = await serve(world, () => ({ text: '42' }));
  await after.idle(runId);
  await after.stop();
  const { named } = world.receiver;
  const [turn, ...more] = named('invoke_agent callboard');
  expect(more).toEqual([]);
  // A number has no room for all digits of nanoseconds.
  const start = Math.round(Number(turn?.startTimeUnixNano) / 1e6);
  expect(start).toBeGreaterThanOrEqual(startedAt - 1);
  expect(start).toBeLessThan(restartedAt);
  const below = [...named('chat gpt-4o'), ...named('execute_tool calculation.eval')];
  expect(below.length).toBeGreaterThanOrEqual(4);
  for (const { parentSpanId } of below) expect(parentSpanId).toBe(turn?.spanId);
});

test('[TM17] the turn of a sub-agent stands below the call that it works for', async () => {
  const world = await newWorld();
  const server = await serve(world, () => ({ text: 'Done' }));
  await server.runs.runChild({
    parent: { run_id: 'run_1', call_id: 'tc_1', agent: 'helper', depth: 1 },
    ...{ task: 'Help', model: MODEL, tools: [], owner: undefined, clientId: undefined },
    ...{ traceparent: CAME_IN, signal: new AbortController().signal },
  });
  await server.stop();
  expect(world.receiver.named('invoke_agent helper')).toMatchObject([
    { parentSpanId: 'b7ad6b7169203331' },
  ]);
});
