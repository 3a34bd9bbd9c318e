import { createOpenAI } from '@ai-sdk/openai';
import { generateText, type ModelMessage, streamText } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { keyedId } from '../../auth/secrets.ts';
import { createSystemClock } from '../../base/clock.ts';
import { holdTool } from '../../runs/testing/hold-tool.ts';
import {
  type FrontEndOptions,
  KEY,
  serveFrontEnds,
  TOKENS,
} from '../../testing/serve-front-ends.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { createOpenAiService } from './create-openai-service.ts';
import { openAiConfigSchema } from './openai-service.ts';

const read = (
  name: string,
  output: string,
  onRun = () => {},
  until: Promise<unknown> = Promise.resolve(),
) =>
  defineTool({
    ...{ name, displayName: name, description: `Gives ${name}`, effect: 'read', timeoutMs: 5_000 },
    args: z.object({}),
    run: async () => {
      onRun();
      await until;
      return { output };
    },
  });

interface Given extends FrontEndOptions {
  readonly config?: object;
}

const serve = ({ config = {}, ...options }: Given = {}) =>
  serveFrontEnds(options, (parts) => ({
    openAi: createOpenAiService({
      ...{ ...parts, clock: createSystemClock(), newSecret: () => crypto.randomUUID() },
      config: openAiConfigSchema.parse({ enabled: true, ...config }),
    }),
  }));

const modelsOf = (url: string, apiKey: string = TOKENS.operator) =>
  createOpenAI({ baseURL: `${url}/v1`, apiKey });

async function post(
  url: string,
  path: string,
  body: object,
  { token = TOKENS.operator, signal = new AbortController().signal } = {},
) {
  const response = await fetch(`${url}/v1/${path}`, {
    ...{ method: 'POST', signal, body: JSON.stringify({ model: 'callboard', ...body }) },
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  const events = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
  return { status: response.status, text, events, json: isJson ? JSON.parse(text) : undefined };
}

async function piecesOf(stream: AsyncIterable<string>): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of stream) pieces.push(piece);
  return pieces;
}

const user = (content: unknown) => ({ role: 'user', content });

describe('the client of the AI SDK', () => {
  test('[OA6] a chat completion, whole and streamed, has the text of the turn and a line for its call', async () => {
    const { url } = await serve();
    const model = modelsOf(url).chat('callboard');
    const whole = await generateText({ model, prompt: 'calculate 2+3*4' });
    expect(whole.finishReason).toBe('stop');
    expect(whole.text).toContain('14');
    expect(whole.text).toMatch(/^> `calculation\.eval`: `\{.*14\}`$/m);
    expect(whole.toolCalls).toEqual([]);
    const streamed = streamText({ model, prompt: 'calculate 2+3*4' });
    const pieces = await piecesOf(streamed.textStream);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe(whole.text);
    expect(await streamed.toolCalls).toEqual([]);
  });

  test('[OA7] a response has the call as one that was made, whole and streamed', async () => {
    const { url } = await serve();
    const model = modelsOf(url).responses('callboard');
    const whole = await generateText({ model, prompt: 'calculate 2+3*4' });
    expect(whole.finishReason).toBe('stop');
    expect(whole.text).toContain('14');
    expect(whole.toolCalls).toMatchObject([
      { toolName: 'mcp.calculation.eval', providerExecuted: true },
    ]);
    const streamed = streamText({ model, prompt: 'calculate 2+3*4' });
    expect((await piecesOf(streamed.textStream)).join('')).toBe(whole.text);
    expect(await streamed.finishReason).toBe('stop');
    expect(await streamed.toolCalls).toMatchObject([{ providerExecuted: true }]);
  });

  test.each(['chat', 'responses', 'responses without a store'])(
    '[OA4] a conversation by %s is one run, and its calls are made once',
    async (api) => {
      const made: string[] = [];
      const word = read('word', 'aurora', () => void made.push('word'));
      const { url, runs } = await serve({ tools: [word] });
      const openai = modelsOf(url);
      const model = api === 'chat' ? openai.chat('callboard') : openai.responses('callboard');
      const providerOptions = { openai: { store: api === 'responses' } };
      const messages: ModelMessage[] = [];
      for (const content of ['word', 'Thank you', 'Good evening']) {
        messages.push({ role: 'user', content });
        messages.push(
          ...(await generateText({ model, messages, providerOptions })).responseMessages,
        );
      }
      expect(made).toEqual(['word']);
      const list = await runs.list({ limit: 10 });
      expect(list.runs).toHaveLength(1);
      const run = await runs.get(list.runs[0]?.run_id ?? '');
      expect(run?.messages.filter(({ role }) => role === 'user').map(({ parts }) => parts)).toEqual(
        ['word', 'Thank you', 'Good evening'].map((text) => [{ type: 'text', text }]),
      );
    },
  );
});

describe('a conversation', () => {
  const script: FrontEndOptions['script'] = ({ index }) => ({ text: `Answer ${index}` });
  const inputsOf = (openai: { requests: readonly { body: unknown }[] }) =>
    openai.requests.map(({ body }) => JSON.stringify(body));
  const reply = async (url: string, messages: object[], more: object = {}) => {
    const { json } = await post(url, 'chat/completions', { messages, ...more });
    return { role: 'assistant', content: z.string().parse(json.choices[0].message.content) };
  };

  test('[OA4] an answer that is asked for again, and a message that was changed, take the place of the one before', async () => {
    const { url, openai, runs } = await serve({ script });
    const first = [user('One'), await reply(url, [user('One')])];
    await reply(url, [...first, user('Two')]);
    await reply(url, [...first, user('Two')]);
    await reply(url, [...first, user('Zwei')]);
    expect((await runs.list({ limit: 10 })).runs).toHaveLength(1);
    const inputs = inputsOf(openai);
    expect(inputs[2]).not.toContain('Answer 1');
    expect(inputs[3]).toContain('Zwei');
    expect(inputs[3]).not.toContain('Two');
    expect(inputs[3]).toContain('Answer 0');
  });

  test('[OA4] one that is not known begins a run that has what came before, and what a call gave is not asked for again', async () => {
    const { url, openai } = await serve({ script });
    const earlier = [
      { role: 'system', content: 'Be brief.' },
      user('Where was I?'),
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'open the door' },
      { role: 'assistant', content: 'At the door.' },
    ];
    await reply(url, [...earlier, user('And now?')]);
    const [input = ''] = inputsOf(openai);
    for (const text of ['Be brief.', 'Where was I?', 'At the door.', 'And now?'])
      expect(input).toContain(text);
    expect(input).not.toContain('open the door');
  });

  test('[OA5] one user is one run, also after a restart', async () => {
    const first = await serve({ script });
    await reply(first.url, [user('One')], { user: 'ada' });
    await first.close();
    const { url, runs, openai } = await serve({ script, dir: first.dir });
    await reply(url, [user('Two')], { user: 'ada' });
    await reply(url, [user('Two')], { user: 'bob' });
    expect((await runs.list({ limit: 10 })).runs).toHaveLength(2);
    const [again, other] = inputsOf(openai);
    expect(again).toContain('One');
    expect(other).not.toContain('One');
  });
});

describe('a response', () => {
  test('[OA7] has the call as two finished items under its id, whole and streamed', async () => {
    const { url, runs } = await serve({ config: { response_calls: 'function_call' } });
    const { json } = await post(url, 'responses', { input: 'calculate 2+3*4' });
    expect(json).toMatchObject({ object: 'response', status: 'completed', error: null });
    const kinds = json.output.map(({ type }: { type: string }) => type);
    expect(kinds).toEqual(['message', 'function_call', 'function_call_output', 'message']);
    const [, call, output] = json.output;
    expect(call).toMatchObject({ name: 'calculation.eval', status: 'completed' });
    expect(JSON.parse(call.arguments)).toEqual({ expression: '2+3*4' });
    expect(call.call_id).toMatch(/^tc_/);
    expect(output).toMatchObject({ call_id: call.call_id, status: 'completed' });
    expect(output.output).toContain('14');
    const { events } = await post(url, 'responses', {
      input: [user('calculate 2+3*4')],
      stream: true,
    });
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    expect(events[0]).toMatchObject({ type: 'response.created' });
    const last = events.at(-1);
    expect(last).toMatchObject({ type: 'response.completed' });
    expect(last.response.output.map(({ type }: { type: string }) => type)).toEqual(kinds);
    const done = events.filter(({ type }) => type === 'response.output_item.done');
    expect(done).toHaveLength(4);
    expect((await runs.list({ limit: 10 })).runs).toHaveLength(2);
  });
});

describe('a stream', () => {
  test('[OA11] has the usage of the turn where it is asked for', async () => {
    const usage = { input: 12, output: 3, reasoning: 0, cached: 0 };
    const { url } = await serve({ script: () => ({ text: 'Hello', usage }) });
    const body = { messages: [user('Hello')], stream: true, user: 'ada' };
    await post(url, 'chat/completions', body);
    const { events, text } = await post(url, 'chat/completions', {
      ...body,
      stream_options: { include_usage: true },
    });
    expect(events.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 12, completion_tokens: 3 },
    });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const without = await post(url, 'chat/completions', body);
    expect(without.text).not.toContain('usage');
  });

  test.each([true, false])(
    '[OA8] a program that leaves stops the turn and its calls (stream: %s)',
    async (stream) => {
      const { promise: started, resolve: start } = Promise.withResolvers<void>();
      const { url, runs, calls, audited } = await serve({ tools: [holdTool('demo.hold', start)] });
      const leaving = new AbortController();
      const asked = post(
        url,
        'chat/completions',
        { messages: [user('demo.hold')], stream },
        leaving,
      );
      await started;
      leaving.abort();
      await expect(asked).rejects.toThrow();
      const newest = async () => (await runs.list({ limit: 1 })).runs[0];
      await expect.poll(async () => (await newest())?.status).toBe('cancelled');
      expect(calls.watched().map(({ card }) => card.error?.code)).toEqual(['cancelled']);
      expect(audited).toEqual(['run_started', 'run_stopped']);
    },
  );

  test('[OA4] a conversation whose answer is under way takes no other message; what a person sends is no part of the answer', async () => {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const { promise: passed, resolve: pass } = Promise.withResolvers<void>();
    const gate = read('gate', 'open', start, passed);
    const { url, runs } = await serve({ tools: [gate] });
    const body = { messages: [user('gate')], user: 'ada' };
    const asked = post(url, 'chat/completions', body);
    await started;
    const refused = await post(url, 'chat/completions', body);
    expect([refused.status, refused.json.error.code]).toEqual([409, 'conflict']);
    const [run] = (await runs.list({ limit: 1 })).runs;
    await runs.send(run?.run_id ?? '', { input: 'From the board' });
    pass();
    const { json } = await asked;
    expect(json.choices[0].message.content).toContain('> `gate`: `open`');
    expect(json.choices[0].message.content).not.toContain('From the board');
  });

  test('[OA10] a turn that failed is an error in the form of OpenAI', async () => {
    const { url } = await serve({ script: () => ({ status: 401 }) });
    const body = { messages: [user('Hello')] };
    const whole = await post(url, 'chat/completions', body);
    expect([whole.status, whole.json.error]).toMatchObject([
      424,
      { type: 'server_error', code: 'model_unauthenticated' },
    ]);
    const streamed = await post(url, 'chat/completions', { ...body, stream: true });
    expect(streamed.events.at(-1)).toMatchObject({ error: { code: 'model_unauthenticated' } });
    const response = await post(url, 'responses', { input: 'Hello', stream: true });
    expect(response.events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error: { code: 'model_unauthenticated' } },
    });
  });
});

describe('who may do what', () => {
  test('[OA1] off, the paths are 404 and name the setting, and the list of models is as before', async () => {
    const { url, server } = await serveFrontEnds({}, () => ({}));
    for (const path of ['chat/completions', 'responses'] as const) {
      const { status, json } = await post(url, path, { messages: [user('Hello')] });
      expect([status, json.error.code]).toEqual([404, 'not_found']);
      expect(json.error.message).toContain('openai_api.enabled');
    }
    expect((await server.post('/v1/nowhere')).json.error.message).not.toContain('openai_api');
    expect(Object.keys((await server.get('/v1/models')).json)).toEqual(['models']);
  });

  test('[OA2] on, the list of models has both forms', async () => {
    const { server } = await serve();
    const { json } = await server.get('/v1/models', { token: TOKENS.agent });
    expect(json.object).toBe('list');
    const ids = json.data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(['callboard', ...json.models.map(({ model }: { model: string }) => model)]);
  });

  test('[OA5] a run that a program made under the id of another’s conversation is not taken for it', async () => {
    const { url, server, runs } = await serve({ tools: [read('echo', 'e')] });
    const id = keyedId(KEY, 'openai', ['operator', 'user', 'ada']);
    const call = { args: {}, run_id: id };
    await server.post('/v1/tools/echo/invoke', call, { token: TOKENS.agent });
    expect((await runs.get(id))?.owner).toMatchObject({ token_id: 'tok_helper' });
    const messages = [user('The word is 4711')];
    const { status, json } = await post(url, 'chat/completions', { messages, user: 'ada' });
    expect([status, json?.error?.code]).toEqual([404, 'run_not_found']);
    expect((await runs.get(id))?.messages).toEqual([]);
  });

  test.each([
    [{}],
    [{ messages: [] }],
    [{ messages: 'Hello' }],
    [{ messages: [{ role: 'system', content: 'Be brief' }] }],
    [{ messages: [user('')] }],
    [{ messages: [user(null)] }],
    [{ messages: [user([{ type: 'image_url', image_url: { url: 'http://x' } }])] }],
    [{ messages: [user('x'.repeat(256 * 1024 + 1))] }],
    [{ messages: [user('Hello')], model: '' }],
    [{ messages: [user('Hello')], stream: 'yes' }],
    [{ messages: Array(10_001).fill(user('Hello')) }],
  ])('[OA12] nonsense is refused in the form of OpenAI, and no run is made (%#)', async (body) => {
    const { url, runs } = await serve();
    const { status, json } = await post(url, 'chat/completions', body);
    expect([status, json.error]).toMatchObject([
      400,
      { type: 'invalid_request_error', code: 'bad_request', param: null },
    ]);
    expect((await runs.list({ limit: 1 })).runs).toEqual([]);
  });

  test('[OA6] what a tool gave is neither a link nor a picture in a line', async () => {
    const hostile = '`![x](http://evil.example/?q=1)`\n\n# Title <img src=x>';
    const { url } = await serve({ tools: [read('page', hostile)] });
    const { json } = await post(url, 'chat/completions', { messages: [user('page')] });
    const line = json.choices[0].message.content
      .split('\n')
      .find((one: string) => one.startsWith('> '));
    expect(line).toBe('> `page`: `![x](http://evil.example/?q=1) # Title <img src=x>`');
  });
});

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const uri = `data:image/png;base64,${PNG}`;
const ask = { type: 'text', text: 'What is this?' };

describe('pictures and files', () => {
  test.each([
    ['chat/completions', { type: 'image_url', image_url: { url: uri } }],
    ['chat/completions', { type: 'image_url', image_url: uri }],
    ['chat/completions', { type: 'file', file: { filename: 'a.png', file_data: PNG } }],
    ['responses', { type: 'input_image', image_url: uri }],
    ['responses', { type: 'input_file', filename: 'a.png', file_data: uri }],
  ] as const)('[OA22] by %s, a picture reaches a model that sees: %j', async (path, part) => {
    const { url, openai } = await serve({ script: () => ({ text: 'A dot' }), images: true });
    const messages = [user([ask, part])];
    const { status } = await post(
      url,
      path,
      path === 'responses' ? { input: messages } : { messages },
    );
    expect(status).toBe(200);
    expect(openai.requests.at(-1)?.images).toEqual([uri]);
  });

  test('[OA22] a model that sees none is told so, and reads files of text', async () => {
    const { url, openai } = await serve({ script: () => ({ text: 'No' }) });
    const file = { filename: 'a.csv', file_data: `data:text/csv;base64,${btoa('a;b')}` };
    const content = [ask, { type: 'image_url', image_url: { url: uri } }, { type: 'file', file }];
    await post(url, 'chat/completions', { messages: [user(content)] });
    const sent = JSON.stringify(openai.requests.at(-1)?.body);
    expect(openai.requests.at(-1)?.images).toEqual([]);
    expect(sent).toContain('Not shown to you: picture 1');
    expect(sent).toContain('a;b');
  });

  test('[OA22] nothing is fetched from an address, and the refusal says so', async () => {
    const { url } = await serve();
    const part = { type: 'image_url', image_url: { url: 'http://127.0.0.1:9/x.png' } };
    const { status, json } = await post(url, 'chat/completions', { messages: [user([ask, part])] });
    expect([status, json.error.message]).toEqual([
      400,
      expect.stringContaining('fetches no pictures'),
    ]);
  });
});

describe('what a front end asks for itself', () => {
  const history = '### Chat History:\n<chat_history>\nUSER: What is the weather?\n</chat_history>';
  test.each([
    `### Task:\nGenerate a concise title with an emoji.\n### Output:\nJSON\n${history}`,
    `### Task:\nSuggest 3-5 relevant follow-up questions.\n### Guidelines:\n- short\n${history}`,
    'Provide a concise, 5-word-or-less title for the conversation, using title case conventions.',
    'Please generate a four to five word title summarizing our conversation without any lead-in.',
    '使用四到五个字直接返回这句话的简要主题，不要解释、不要标点。',
    `Available Tools: [{"name": "x"}]${' '.repeat(600)}\n\nYour task is to choose and return the correct tool(s) from the list.`,
    'Please reply with a title for the chat that is 3-4 words in length.',
    'Please write a brief title for the following request:\n\nWhat is the weather?',
    'Analyze this conversation and provide:\n1. The detected language of it\n2. A concise title, 5 words or less',
  ])('[OA21] is answered without tools, and makes no conversation: %s', async (content) => {
    const { url, runs, openai } = await serve({ script: () => ({ text: 'Weather' }) });
    const { json } = await post(url, 'chat/completions', { messages: [user(content)] });
    expect(json.choices[0].message.content).toBe('Weather');
    expect(openai.requests.map(({ toolNames }) => toolNames)).toEqual([[]]);
    expect((await runs.list({ limit: 1 })).runs).toEqual([]);
  });

  test.each([
    'Write a title for my book about Kiel',
    'Create a ticket with the title "The chat is broken" in the tracker',
    'Write a mail with the subject "Our conversation" to Ann',
    'Create an event named "Chat with Bob" and give it the tag work',
    'Which tasks are open in the chat with Ada?',
    '### Task:\nFix the build',
  ])('[OA21] what a person asks is a conversation: %s', async (content) => {
    const { url, runs } = await serve({ script: () => ({ text: 'Done' }) });
    await post(url, 'chat/completions', { messages: [user(content)] });
    expect((await runs.list({ limit: 1 })).runs).toHaveLength(1);
  });
});
