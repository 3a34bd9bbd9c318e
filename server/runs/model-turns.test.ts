import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ModelTurn } from '#lib/protocol/model-turn';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import type { ScriptedReply } from '../testing/scripted-openai-events.ts';
import { createTestStore, type FakeTool } from './agent/testing/fakes.ts';
import { echo, gate, inOrder, setupTurns } from './agent/testing/setup-turns.ts';
import type { RunService } from './agent-runs.ts';
import { sampleRequest, setupRuns, type Turn, untilStopped } from './testing/setup-runs.ts';

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');

async function turnsOf(runs: RunService, runId: string, more: object = {}): Promise<ModelTurn[]> {
  const page = await runs.modelTurns({ runId, after: 0, limit: 200, ...more });
  if (!page) throw new Error('the run is gone');
  return page.turns;
}

/** The first piece of the answer is seen. */
const isAnswering = (event: WatchEvent): boolean =>
  event.type === 'message' && event.message.role === 'assistant' && event.message.parts.length > 0;

const callEcho = (text: string): ScriptedReply => ({
  calls: [{ name: 'demo_echo', args: { text } }],
});

test('[AL110] each request is recorded with its step, model, times, end and tokens', async () => {
  const usage = { input: 1_200, output: 34, reasoning: 30, cached: 1_024 };
  const { turn, runs } = await setupTurns({
    model: 'openai:gpt-4o',
    script: inOrder({ ...callEcho('x'), usage }, { text: 'Done.' }),
    tools: [echo],
  });
  const before = Date.now() / 1000;
  const run = await turn('echo x');
  const turns = await turnsOf(runs, run.run_id);
  expect(turns).toMatchObject([
    { number: 1, turn: 1, step: 1, attempt: 1, finish_reason: 'tool-calls', state: 'done' },
    { number: 2, turn: 1, step: 2, attempt: 1, finish_reason: 'stop', state: 'done' },
  ]);
  expect(turns.map(({ message_id }) => message_id)).toEqual(
    run.messages.slice(1).map(({ message_id }) => message_id),
  );
  for (const one of turns) {
    expect(one).toMatchObject({ model: 'openai:gpt-4o', tools_offered: 1, error_code: null });
    const { started_at, first_token_at, ended_at } = one;
    expect(started_at).toBeGreaterThanOrEqual(before);
    expect(first_token_at).toBeGreaterThanOrEqual(started_at);
    expect(ended_at).toBeGreaterThanOrEqual(first_token_at ?? Number.POSITIVE_INFINITY);
  }
  expect(turns[0]?.usage).toEqual({
    ...{ input_tokens: 1_200, output_tokens: 34, reasoning_tokens: 30, cached_tokens: 1_024 },
  });
  expect(turns[0]?.prompt_sha256).not.toBe(turns[1]?.prompt_sha256);
  expect(turns[0]?.tools_sha256).toBe(turns[1]?.tools_sha256);
});

test.each(['compatible:qwen3', 'openai-chat:gpt-4o'])(
  '[AL110] %s is asked to count the tokens of its stream',
  async (model) => {
    const usage = { input: 1_200, output: 34, reasoning: 30, cached: 1_024 };
    const script = () => ({ text: 'Done.', usage });
    const { turn, runs } = await setupTurns({ model, script });
    const [one] = await turnsOf(runs, (await turn('hi')).run_id);
    expect(one?.usage).toEqual({
      ...{ input_tokens: 1_200, output_tokens: 34, reasoning_tokens: 30, cached_tokens: 1_024 },
    });
  },
);

test('[AL110] tokens that a provider does not count are null', async () => {
  const { turn, runs } = await setupTurns({ model: 'rehearsal', script: () => ({}) });
  const [one] = await turnsOf(runs, (await turn('hi')).run_id);
  expect(one?.usage).toEqual({
    ...{ input_tokens: null, output_tokens: null, reasoning_tokens: null, cached_tokens: null },
  });
});

test('[AL110] a request that is made again is another attempt, and each says how it ended', async () => {
  const { start, ended, runs, openai } = await setupTurns({
    script: inOrder({ status: 503, headers: { 'retry-after': '0' } }, callEcho('x'), {
      text: 'ok',
    }),
    tools: [echo],
    agent: { maxRetries: 1 },
  });
  const run = await ended(await start('again'));
  expect(openai.requests).toHaveLength(3);
  expect(await turnsOf(runs, run.run_id)).toMatchObject([
    { step: 1, attempt: 1, state: 'failed', error_code: 'model_unavailable', finish_reason: null },
    { step: 1, attempt: 2, state: 'done', error_code: null, finish_reason: 'tool-calls' },
    { step: 2, attempt: 1, state: 'done' },
  ]);
  const [first, second] = await turnsOf(runs, run.run_id);
  expect(first?.first_token_at).toBeNull();
  expect(first?.prompt_sha256).toBe(second?.prompt_sha256);
});

test('[AL110] a turn that fails or is stopped says so of its request', async () => {
  const { turn, runs } = await setupTurns({ script: () => ({ status: 401 }) });
  const failed = await turn('hi');
  expect(await turnsOf(runs, failed.run_id)).toMatchObject([
    { state: 'failed', error_code: 'model_unauthenticated' },
  ]);
  const hanging = await setupTurns({
    script: () => ({ text: 'abc', stall: { at: 1, until: new Promise(() => {}) } }),
  });
  const runId = await hanging.start('hi');
  await hanging.bus.until(isAnswering);
  expect(await turnsOf(hanging.runs, runId)).toMatchObject([{ state: 'running', ended_at: null }]);
  await hanging.runs.cancel(runId);
  expect(await turnsOf(hanging.runs, runId)).toMatchObject([
    { state: 'failed', error_code: 'cancelled', finish_reason: null },
  ]);
});

test('[AL111] what the model got of each call is recorded with the request that had it first', async () => {
  const { turn, runs, openai, calls } = await setupTurns({
    script: inOrder(callEcho('one'), callEcho('two'), { text: 'Done.' }),
    tools: [echo],
  });
  const run = await turn('echo');
  const turns = await turnsOf(runs, run.run_id);
  expect(turns.map(({ sent }) => sent.map((part) => part.tool_call_id))).toEqual([
    [],
    ['tc_1'],
    ['tc_2'],
  ]);
  const got = openai.requests[2]?.toolResults ?? [];
  expect(got).toHaveLength(2);
  for (const [at, { text }] of got.entries()) {
    const id = `tc_${at + 1}`;
    const part = turns.flatMap(({ sent }) => sent).find((one) => one.tool_call_id === id);
    expect(part).toEqual({
      tool_call_id: id,
      sha256: sha256(text),
      bytes: Buffer.byteLength(text),
      cut: false,
      limit: 32 * 1024,
      images: [],
    });
    expect(calls.records.get(id)?.status).toBe('SUCCEEDED');
  }
});

test('[AL111] that a result was cut, and the pictures beside it, are recorded', async () => {
  const blob = { blob_id: 'blob_1', media_type: 'image/png', size: 6 };
  const shoot: FakeTool = {
    name: 'demo.shoot',
    run: () => ({ output: 'ü'.repeat(40_000), attachments: [blob] }),
  };
  const { turn, runs, openai } = await setupTurns({
    model: 'openai:gpt-4o',
    script: inOrder({ calls: [{ name: 'demo_shoot', args: {} }] }, { text: 'Seen.' }),
    tools: [shoot],
  });
  const run = await turn('shoot');
  const [, second] = await turnsOf(runs, run.run_id);
  const [part] = second?.sent ?? [];
  const image = new TextEncoder().encode('blob_1');
  expect(part).toMatchObject({
    cut: true,
    images: [
      { blob_id: 'blob_1', media_type: 'image/jpeg', sha256: sha256(image), bytes: image.length },
    ],
  });
  expect(part?.bytes).toBeLessThanOrEqual(32 * 1024);
  expect(openai.requests[1]?.images).toHaveLength(1);
});

test('[AL111] a result is recorded again only where it is sent in another form', async () => {
  const blob = (number: number) => ({
    ...{ blob_id: `blob_${number}`, media_type: 'image/png', size: 6 },
  });
  let shots = 0;
  const shoot: FakeTool = {
    name: 'demo.shoot',
    run: () => {
      shots += 1;
      return { output: 'seen', attachments: [blob(shots)] };
    },
  };
  const five = Array.from({ length: 5 }, () => ({ calls: [{ name: 'demo_shoot', args: {} }] }));
  const { turn, runs } = await setupTurns({
    model: 'openai:gpt-4o',
    script: inOrder(...five, { text: 'All seen.' }),
    tools: [shoot],
  });
  const run = await turn('shoot');
  const last = (await turnsOf(runs, run.run_id)).at(-1);
  // The newest four pictures go along: the first result is sent without its own from now on.
  expect(last?.sent.map((part) => [part.tool_call_id, part.images.length])).toEqual([
    ['tc_1', 0],
    ['tc_5', 1],
  ]);
});

test('[AL112] nothing is asked of the model before its request is on disk', async () => {
  const { start, ended, turn, store, openai } = await setupTurns({
    script: () => ({ text: 'ok' }),
  });
  const written = gate();
  const { write } = store;
  let held: string | undefined;
  store.write = async (changes) => {
    await write(changes);
    const request = changes.find(({ type }) => type === 'put_model_turn');
    if (request?.type !== 'put_model_turn') return;
    held ??= request.turn.run_id;
    if (held === request.turn.run_id) await written.promise;
  };
  const first = await start('first');
  await expect.poll(() => held).toBe(first);
  // Another run asks, and is answered, meanwhile.
  await turn('second');
  expect(openai.requests.map(({ body }) => JSON.stringify(body))).toEqual([
    expect.stringContaining('second'),
  ]);
  written.resolve();
  await ended(first);
  expect(openai.requests).toHaveLength(2);
});

test('[AL112] a request costs no write of its own: it goes with the step, its end with the message', async () => {
  const { turn, store } = await setupTurns({
    script: inOrder(callEcho('x'), { text: 'Done.' }),
    tools: [echo],
  });
  await turn('echo');
  expect(store.writes.map((changes) => changes.map(({ type }) => type))).toEqual([
    ['put_run', 'put_message'],
    ['put_run', 'put_model_turn'],
    ['put_message', 'put_model_turn'],
    ['put_run', 'put_model_turn'],
    ['put_message', 'put_model_turn'],
    ['put_run'],
  ]);
});

test('[AL112] the end of a request that is made again is written before the pause', async () => {
  const { turn, store } = await setupTurns({
    script: inOrder({ status: 503, headers: { 'retry-after': '0' } }, { text: 'ok' }),
    agent: { maxRetries: 1 },
  });
  await turn('again');
  const ends = store.writes.map((changes) =>
    changes.flatMap((change) =>
      change.type === 'put_model_turn' ? [[change.turn.number, change.turn.error_code]] : [],
    ),
  );
  expect(ends).toEqual([[], [[1, null]], [[1, 'model_unavailable']], [[2, null]], [[2, null]], []]);
});

test('[RU13] [RU19] a server that stops leaves a request without an end, as a crash does', async () => {
  const { start, runs, store, bus } = await setupTurns({
    script: () => ({ text: 'abc', stall: { at: 1, until: new Promise(() => {}) } }),
  });
  const runId = await start('hi');
  await bus.until(isAnswering);
  await runs.close();
  const { turns } = await store.listModelTurns({ runId, after: 0, limit: 9 });
  expect(turns).toMatchObject([{ number: 1, ended_at: null, error_code: null }]);
});

test('[RU19] a request that a crash cut short is interrupted, and the next one is another attempt', async () => {
  const store = createTestStore();
  const hangs = gate();
  const dies: Turn = async (request) => {
    await (await request.transcript.beginMessage()).beginRequest(sampleRequest());
    hangs.resolve();
    return untilStopped(request);
  };
  const first = setupRuns({ store, turn: dies });
  const { run_id } = await first.start();
  await hangs.promise;
  expect(await turnsOf(first.runs, run_id)).toMatchObject([{ number: 1, state: 'running' }]);

  const again = setupRuns({
    store,
    turn: async ({ transcript }) => {
      const writer = await transcript.beginMessage();
      const log = await writer.beginRequest(sampleRequest());
      log.end({ errorCode: 'model_failed' });
      await writer.end();
      return { status: 'idle' };
    },
  });
  expect(await turnsOf(again.runs, run_id)).toMatchObject([{ number: 1, state: 'interrupted' }]);
  await again.runs.recover();
  const over = again.ended(run_id);
  await expect
    .poll(() => {
      again.clock.advance(3_000);
      return again.turns.length;
    })
    .toBe(1);
  await over;
  expect(await turnsOf(again.runs, run_id)).toMatchObject([
    { number: 1, turn: 1, step: 1, attempt: 1, state: 'interrupted', ended_at: null },
    { number: 2, turn: 1, step: 1, attempt: 2, state: 'failed' },
  ]);
});

test('[RU19] requests are numbered through a run, and by the person’s message that began them', async () => {
  const { runs, start, ended } = await setupTurns({ script: () => ({ text: 'Yes.' }) });
  const runId = await start('one');
  await ended(runId);
  const sentAgain = await runs.send(runId, { input: 'two' });
  expect(sentAgain.ok).toBe(true);
  await expect.poll(async () => (await runs.get(runId))?.status).toBe('idle');
  expect(await turnsOf(runs, runId)).toMatchObject([
    { number: 1, turn: 1, step: 1 },
    { number: 2, turn: 2, step: 1 },
  ]);
});
