import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Script } from '../../../testing/scripted-openai.ts';
import {
  echo,
  inOrder,
  MODELS,
  notices,
  partsOf,
  setupTurns,
  texts,
} from '../testing/setup-turns.ts';
import { ThoughtReader } from '../thoughts.ts';
import { withReadableAnswers } from './read-answers.ts';

const stream = (...chunks: unknown[]) =>
  chunks
    .map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`)
    .join('');
const chunk = (delta: unknown, finish_reason: unknown = null, more: object = {}) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const ANSWER = chunk({ role: 'assistant', content: 'Answer' });
const STOP = chunk({}, 'stop');
const call = (more: object, fields: object = {}) => ({
  ...{ index: 0, id: 'call_1', type: 'function' },
  function: { name: 'demo_echo', arguments: '{"text":"x"}', ...fields },
  ...more,
});

/** What comes of a turn that gets this for its first answer. */
async function answered(raw: string, model = 'compatible:qwen3:8b', headers = {}) {
  const script: Script = inOrder({ raw, headers }, { text: 'Answer' });
  const made = await setupTurns({ model, script, tools: [echo] });
  const run = await made.turn('go');
  const ran = [...made.calls.records.values()].filter(({ status }) => status === 'SUCCEEDED');
  const requests = made.openai.requests.length;
  return {
    run,
    requests,
    ran: ran.map(({ args }) => args),
    shown: texts(partsOf(run)).slice(1).join('|'),
  };
}

describe.each(['compatible:qwen3:8b', 'openai-chat:gpt-4o'])('[AL200] over %s', (model) => {
  test.each([
    ['counts without choices', [ANSWER, STOP, { usage: { prompt_tokens: 1 } }]],
    ['choices: null', [ANSWER, STOP, chunk({}, null, { choices: null })]],
    ['an empty object', [ANSWER, {}, STOP]],
    ['a ping, and text that is no JSON', [ANSWER, { type: 'ping' }, 'keepalive', STOP]],
    ['an empty line of data', ['', ANSWER, STOP]],
    [
      'an id, a date, a role and an index of other types',
      [
        { ...chunk({ role: 'model', content: 'Answer' }), id: 7, created: '2026-01-01' },
        { choices: [{ index: '0', delta: {}, finish_reason: 'stop' }], model: null },
      ],
    ],
    ['counts as text', [ANSWER, chunk({}, 'stop', { usage: { prompt_tokens: '1', x: [] } })]],
    [
      'odd details that nobody needs',
      [
        chunk({ content: 'Answer', annotations: 5, tool_calls: null }, '', { logprobs: 'x' }),
        { choices: [{ delta: {}, logprobs: [], finish_reason: 'stop' }] },
      ],
    ],
    ['text as a list of parts', [chunk({ content: [{ type: 'text', text: 'Answer' }] }), STOP]],
    ['a piece of text that is no JSON', [ANSWER, '{"choices":[{"delta":{"content":"bro', STOP]],
    ['choices as one object', [{ choices: { delta: { content: 'Answer' } } }, STOP]],
    ['texts in a list', [chunk({ content: ['Ans', 'wer'] }), STOP]],
    [
      'a field that JSON does not have',
      ['{"choices":[{"delta":{"content":"Answer"}}],"p":NaN}', STOP],
    ],
    ['its data named twice', [`data: ${JSON.stringify(ANSWER)}`, STOP]],
    [
      'its message behind a blank piece',
      [chunk({ content: '' }), { choices: [{ message: { content: 'Answer' } }] }, STOP],
    ],
  ])('%s: the answer is there', async (_, chunks) => {
    const { run, requests, shown } = await answered(stream(...chunks, '[DONE]'), model);
    expect(run.error).toBe(null);
    expect(shown).toBe('Answer');
    expect(requests).toBe(1);
  });

  test.each([
    ['as an object', [call({}, { arguments: { text: 'x' } })]],
    ['at an index that is text', [call({ index: '0' })]],
    ['without an index', [call({ index: undefined })]],
    ['with an id that is a number', [call({ id: 7 })]],
    ['of another type', [call({ type: 'custom' })]],
    ['with a piece that has no function', [call({}), { index: 0, function: null }]],
    [
      'with its name in each piece',
      [call({}, { arguments: '{"text":' }), call({}, { arguments: '"x"}' })],
    ],
  ])('arguments %s are taken', async (_, pieces) => {
    const chunks = pieces.map((piece) => chunk({ tool_calls: [piece] }));
    const { run, ran } = await answered(
      stream(...chunks, chunk({}, 'tool_calls'), '[DONE]'),
      model,
    );
    expect(run.error).toBe(null);
    expect(ran).toEqual([{ text: 'x' }]);
  });

  test('several calls that a server gives one index are calls of their own', async () => {
    const other = call({ id: 'call_2' }, { arguments: '{"text":"y"}' });
    const chunks = [chunk({ tool_calls: [call({})] }), chunk({ tool_calls: [other] })];
    const { ran } = await answered(stream(...chunks, chunk({}, 'tool_calls')), model);
    expect(ran).toEqual([{ text: 'x' }, { text: 'y' }]);
  });

  test('[DONE] without a finish_reason is an end, after a text and after a call', async () => {
    expect((await answered(stream(ANSWER, '[DONE]'), model)).run.error).toBe(null);
    const { run, ran } = await answered(stream(chunk({ tool_calls: [call({})] }), '[DONE]'), model);
    expect(run.error).toBe(null);
    expect(ran).toHaveLength(1);
    expect(texts(partsOf(run)).at(-1)).toBe('Answer');
  });

  test('one JSON object in place of a stream is read, its calls, too', async () => {
    const whole = (message: object) =>
      JSON.stringify({ object: 'chat.completion', choices: [{ index: 0, message }] }, null, 2);
    const headers = { 'content-type': 'application/json' };
    const text = await answered(whole({ role: 'assistant', content: 'Whole' }), model, headers);
    expect(text.shown).toBe('Whole');
    const calls = await answered(
      whole({ tool_calls: [call({ index: undefined })] }),
      model,
      headers,
    );
    expect(calls.ran).toEqual([{ text: 'x' }]);
  });

  test('a piece of a call that is lost runs nothing', async () => {
    const begun = chunk({ tool_calls: [call({}, { arguments: '{"text":' })] });
    const raw = stream(begun, '{"choices":[{"delta":{"tool_ca', STOP, '[DONE]');
    const { run, ran } = await answered(raw, model);
    expect(run.error?.code).toBe('model_unreadable');
    expect(ran).toEqual([]);
  });

  test('an answer of which nothing can be read is told in words', async () => {
    const { run } = await answered(stream({ ...ANSWER, choices: 5 }, '[DONE]'), model);
    expect(notices(partsOf(run))).toEqual(['model_unreadable']);
    expect(run.error?.message).not.toMatch(/validation|invalid_union|"path"/i);
  });

  test.each(['overloaded', { message: 'overloaded' }, { detail: 'overloaded', code: 5 }])(
    'an error in the stream is told in its own words: %j',
    async (error) => {
      const { run } = await answered(stream(ANSWER, { error }), model);
      expect(run.error?.message).toContain('overloaded');
    },
  );

  test('so is one of MiniMax, beside no answer', async () => {
    const raw = JSON.stringify({
      choices: null,
      base_resp: { status_code: 1, status_msg: 'no balance' },
    });
    expect((await answered(raw, model)).run.error?.message).toContain('no balance');
  });
});

const added = (type: string, item: object) => ({ type: `response.output_item.${type}`, item });
const RESPONSE_CALL = { type: 'function_call', call_id: 'c', name: 'demo_echo' };

test.each([
  ['counts as text', [{ type: 'response.completed', response: { usage: { input_tokens: '1' } } }]],
  ['[DONE] in place of an end', ['[DONE]']],
  [
    'events and items of other kinds',
    [
      { type: 'response.web_search_call.searching', output_index: 'x' },
      added('added', { type: 'web_search_call' }),
      { type: 'ping' },
      { type: 'response.completed', response: null },
    ],
  ],
])('[AL200] the Responses API with %s: text and call are read', async (_, ends) => {
  const raw = stream(
    { type: 'response.created', response: { id: 5, created_at: 'x' } },
    { type: 'response.output_text.delta', item_id: 7, delta: 'Said', logprobs: 'none' },
    { ...added('added', { ...RESPONSE_CALL, arguments: null }), output_index: '1' },
    { ...added('done', { ...RESPONSE_CALL, arguments: { text: 'x' } }), output_index: '1' },
    ...ends,
  );
  const { run, ran, shown } = await answered(raw, 'openai:gpt-4o');
  expect(run.error).toBe(null);
  expect(ran).toEqual([{ text: 'x' }]);
  expect(shown).toBe('Said|Answer');
});

test('[AL200] a whole response in place of a stream is read', async () => {
  const message = { type: 'message', content: [{ type: 'output_text', text: 'Whole' }] };
  const raw = JSON.stringify({ object: 'response', status: 'completed', output: [message] });
  expect((await answered(raw, 'openai:gpt-4o')).shown).toBe('Whole');
});

test.each(MODELS)('[AL200] over %s a web page is no API, and so is its 404', async (model) => {
  const raw = '\n<!doctype html><title>Sign in</title>';
  const { run } = await answered(raw, model, { 'content-type': 'text/html' });
  expect(run.error).toMatchObject({ code: 'model_no_api' });
  expect(run.error?.message).toContain('is /v1 missing');
  const { turn } = await setupTurns({ model, script: () => ({ status: 404, raw }) });
  expect((await turn('go')).error?.code).toBe('model_no_api');
});

test.each(MODELS)('[AL200] over %s words in place of a stream are told', async (model) => {
  const raw = 'upstream connect error or disconnect/reset before headers, key sk-abc123';
  const { run } = await answered(raw, model, { 'content-type': 'text/plain' });
  expect(run.error).toMatchObject({ code: 'model_unreadable' });
  expect(run.error?.message).toContain('upstream connect error');
  expect(run.error?.message).not.toContain('abc123');
});

test.each(MODELS)('[AL66] over %s the reason of a refusal is found in its body', async (model) => {
  const raw = JSON.stringify({ detail: [{ loc: ['body', 'tools', 0], msg: 'field required' }] });
  const { turn } = await setupTurns({ model, script: () => ({ status: 422, raw }) });
  expect((await turn('go')).error?.message).toContain('body.tools.0: field required');
});

test.each(MODELS)('[AL201] over %s the same call twice in an answer runs once', async (model) => {
  const one = { name: 'demo_echo', args: '{"text":"x"}', id: 'call_1' };
  const calls = [one, { ...one, args: '{ "text": "x" }' }, { ...one, args: '{"text":"y"}' }];
  const script = inOrder({ calls }, { text: 'done' });
  const made = await setupTurns({ model, script, tools: [echo] });
  await made.turn('go');
  expect([...made.calls.records.values()].map(({ args }) => args.text)).toEqual(['x', 'y']);
});

test('[AL201] so it does where both have one index', async () => {
  const twice = [chunk({ tool_calls: [call({})] }), chunk({ tool_calls: [call({})] })];
  const { ran } = await answered(stream(...twice, chunk({}, 'tool_calls'), '[DONE]'));
  expect(ran).toEqual([{ text: 'x' }]);
});

/** The calls that the SDK gets when a server sends these bytes in these pieces. */
async function callsOf(pieces: readonly Uint8Array[]): Promise<unknown[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const response = await withReadableAnswers(async () => new Response(body))('http://m.test/chat');
  const lines = (await response.text()).split('\n').filter((line) => line !== '');
  return lines.flatMap((line) => JSON.parse(line.slice(6)).choices[0].delta.tool_calls);
}

test('[AL104] a name that comes late is waited for, one that never comes is given at the end', async () => {
  const text = stream(
    chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: '', arguments: '{"a' } }] }),
    chunk({ tool_calls: [{ index: 1, id: 'b', function: { name: 42, arguments: '{}' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { name: '你好', arguments: '":1}' } }] }),
    chunk({}, 'tool_calls'),
  );
  const made = (index: number, id: string, name: string, args: string) => ({
    ...{ index, id, type: 'function', function: { name, arguments: args } },
  });
  const expected = [made(0, 'a', '你好', '{"a":1}'), made(1, 'b', '(no name)', '{}')];
  const whole = new TextEncoder().encode(text.replaceAll('\n\n', '\r\n\r\n'));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), async (size) => {
      const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, n) =>
        whole.slice(n * size, (n + 1) * size),
      );
      expect(await callsOf(pieces)).toEqual(expected);
    }),
    { numRuns: 20 },
  );
});

test('[AL206] the lines of one event are read once each, however many there are', async () => {
  const text = `${'data: a\n'.repeat(20_000)}\n`;
  const search = vi.spyOn(String.prototype, 'indexOf');
  const response = await withReadableAnswers(async () => new Response(text))('http://m.test/chat');
  await response.text();
  const read = search.mock.contexts.reduce((sum: number, one) => sum + String(one).length, 0);
  search.mockRestore();
  expect(read).toBeLessThan(20 * text.length);
});

test.each([
  ['in one piece', stream(chunk({ content: '<think>'.repeat(50_000) }), STOP)],
  ['in many pieces at once', stream(...Array(4_000).fill(ANSWER), STOP)],
])('[AL206] a long answer %s leaves time for everything else', async (_name, raw) => {
  let inTurn = 0;
  let most = 0;
  const push = vi.spyOn(ThoughtReader.prototype, 'push');
  push.mockImplementation((text) => {
    inTurn += 160 + text.length;
    most = Math.max(most, inTurn);
    return [];
  });
  const tick = () => {
    inTurn = 0;
    ticker = setImmediate(tick);
  };
  let ticker = setImmediate(tick);
  await answered(raw);
  clearImmediate(ticker);
  push.mockRestore();
  expect(most).toBeLessThan(48 * 1_024);
});
