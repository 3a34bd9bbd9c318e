import { describe, expect, test } from 'vitest';
import type { ModelSettings } from './model-facts.ts';
import type { FakeTool } from './testing/fakes.ts';
import {
  echo,
  hanging,
  inOrder,
  MODELS,
  notices,
  partsOf,
  setupTurns,
  texts,
} from './testing/setup-turns.ts';
import type { TurnDeps } from './turn.ts';

describe.each(MODELS)('over %s', (model) => {
  test('[AL7] E13: a connection that breaks off ends the turn, and its calls are on record', async () => {
    const script = () => ({
      text: 'Wait',
      calls: [{ name: 'demo_echo', args: { text: 'abcdefgh' } }],
      cut: { after: 12, how: 'abrupt' as const },
    });
    const agent = { maxRetries: 2 };
    const { turn, calls, openai } = await setupTurns({ model, script, tools: [echo], agent });
    const run = await turn('go');
    expect(openai.requests).toHaveLength(1);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'stream_cut' } });
    expect(notices(partsOf(run))).toEqual(['stream_cut']);
    expect([...calls.records.values()].map(({ status }) => status)).toEqual(['FAILED']);
  });

  test('[AL7] a stream that ends without a finish is a broken one', async () => {
    const script = () => ({ text: 'Half an ans', cut: { after: 5, how: 'clean' as const } });
    const { turn } = await setupTurns({ model, script });
    const run = await turn('go');
    expect(run).toMatchObject({ status: 'failed', error: { code: 'stream_cut' } });
    expect(texts(partsOf(run)).at(-1)).toBe('Half ');
  });

  test('[AL15] T152: a stream that is cut where the arguments begin runs nothing', async () => {
    const run = async () => ({ output: 'ran' });
    const script = () => ({
      calls: [{ name: 'demo_act', args: {} }],
      cut: { after: 1, how: 'clean' as const },
    });
    const { turn, calls } = await setupTurns({ model, script, tools: [{ name: 'demo.act', run }] });
    const ended = await turn('go');
    expect(ended.status).toBe('failed');
    expect(calls.records.get('tc_1')).toMatchObject({ status: 'FAILED' });
  });

  test('[AL15] a call with no arguments at all runs once the stream has ended', async () => {
    const script = inOrder({ calls: [{ name: 'demo_echo', args: '' }] }, { text: 'done' });
    const { turn, calls } = await setupTurns({ model, script, tools: [echo] });
    await turn('go');
    expect(calls.records.get('tc_1')).toMatchObject({ status: 'SUCCEEDED', args: {} });
  });

  test.each([
    [401, undefined, 'model_unauthenticated'],
    [404, undefined, 'model_not_found'],
    [429, undefined, 'model_rate_limited'],
    [429, 'insufficient_quota', 'model_quota'],
    [400, 'context_length_exceeded', 'context_too_long'],
    [500, undefined, 'model_unavailable'],
  ])('[AL66] HTTP %i %s ends the turn as %s', async (status, code, expected) => {
    const error = { message: 'Incorrect API key provided: sk-test-key', ...(code ? { code } : {}) };
    const { turn } = await setupTurns({ model, script: () => ({ status, error }) });
    const run = await turn('go');
    expect(run).toMatchObject({ status: 'failed', error: { code: expected } });
    expect(JSON.stringify(run)).not.toContain('sk-test-key');
    expect(notices(partsOf(run))).toEqual([expected]);
  });

  test('[AL8] a limit that passes is waited out once more', async () => {
    const script = inOrder(
      { status: 429, headers: { 'retry-after': '0' } },
      { status: 500, headers: { 'retry-after': '0' } },
      { text: 'Here I am.' },
    );
    const { turn, openai } = await setupTurns({ model, script, agent: { maxRetries: 2 } });
    const run = await turn('go');
    expect(run.status).toBe('idle');
    expect(openai.requests).toHaveLength(3);
  });

  test('[AL8] it is not made again more than twice, nor for other errors', async () => {
    const limited = await setupTurns({
      model,
      script: () => ({ status: 503, headers: { 'retry-after': '0' } }),
      agent: { maxRetries: 2 },
    });
    await limited.turn('go');
    expect(limited.openai.requests).toHaveLength(3);
    const refused = await setupTurns({
      model,
      script: () => ({ status: 404 }),
      agent: { maxRetries: 2 },
    });
    await refused.turn('go');
    expect(refused.openai.requests).toHaveLength(1);
  });
});

/** How long the model of these tests is waited for. */
const patient = (settings: ModelSettings) => ({ settings: { 'openai-chat:gpt-4o': settings } });

test('[AL9] a model that says nothing is given up', async () => {
  const script = () => ({ text: 'late', stall: { at: 0, until: new Promise(() => undefined) } });
  const { turn } = await setupTurns({ script, models: patient({ silence_seconds: 0.05 }) });
  const run = await turn('go');
  expect(run).toMatchObject({ status: 'failed', error: { code: 'model_silent' } });
});

test('[AL9] a model that goes on talking for longer than that is not', async () => {
  const script = () => ({ text: 'x'.repeat(40), pieceMs: 20 });
  const { turn } = await setupTurns({ script, models: patient({ silence_seconds: 0.4 }) });
  expect((await turn('go')).status).toBe('idle');
});

test.each([...MODELS, 'anthropic:claude-sonnet-5-5'])(
  '[AL9] %s: comments of its server are signs of life',
  async (model) => {
    const script = () => ({ text: 'ready', comments: 40, pieceMs: 20, pieceChars: 9 });
    const settings = { [model]: { silence_seconds: 0.4 } };
    const models = { settings, anthropicApiKey: 'sk-ant-key' };
    const { turn } = await setupTurns({ model, script, models });
    expect((await turn('go')).status).toBe('idle');
  },
);

test('[AL9] a server that only drips is ended all the same', async () => {
  const script = () => ({ text: 'x'.repeat(400), pieceMs: 5 });
  const { turn } = await setupTurns({ script, models: patient({ total_seconds: 0.1 }) });
  const run = await turn('go');
  expect(run.error).toMatchObject({ code: 'model_too_long', params: { seconds: 0.1 } });
});

test('[AL66] a server that is not there', async () => {
  const { turn, openai } = await setupTurns({ script: () => ({}) });
  await openai.close();
  expect(await turn('go')).toMatchObject({
    status: 'failed',
    error: { code: 'model_unreachable' },
  });
});

test('[AL65] a configured model without its key says what to set', async () => {
  const models = { openaiApiKey: undefined, openaiBaseUrl: undefined };
  const { turn, openai } = await setupTurns({
    model: 'openai:gpt-5',
    script: () => ({}),
    models,
  });
  const run = await turn('go');
  expect(run).toMatchObject({ status: 'failed', error: { code: 'no_api_key' } });
  expect(run.error?.message).toContain('Set OPENAI_API_KEY');
  expect(openai.requests).toEqual([]);
});

test('[AL7] calls that ran when the stream broke are cancelled', async () => {
  const script = () => ({
    calls: [
      { name: 'demo_hang', args: { x: 1 } },
      { name: 'demo_echo', args: { text: 'abcdef' } },
    ],
    cut: { after: 14, how: 'abrupt' as const },
  });
  const { turn, calls } = await setupTurns({
    model: 'openai:gpt-4o',
    script,
    tools: [hanging(), echo],
  });
  expect((await turn('go')).status).toBe('failed');
  expect([...calls.records.values()].map(({ status }) => status)).toEqual(['FAILED', 'FAILED']);
});

test('[AL7] what fails within the server is told as such, and logged', async () => {
  const images: TurnDeps['images'] = {
    readBlob: () => Promise.reject(new Error('disk on fire')),
    scaleForModel: async (bytes) => ({ ok: true, bytes, mediaType: 'image/png' }),
  };
  const attachments = [{ blob_id: 'blob_1', media_type: 'image/png', size: 1 }];
  const shot: FakeTool = { name: 'shot', run: () => ({ output: 'x', attachments }) };
  const script = inOrder({ calls: [{ name: 'shot', args: { a: 1 } }] }, { text: 'never' });
  const { turn, defects } = await setupTurns({ script, tools: [shot], agent: { images } });
  expect(await turn('go')).toMatchObject({
    status: 'failed',
    error: { code: 'internal', message: 'The server failed: disk on fire' },
  });
  expect(defects).toHaveLength(1);
});
