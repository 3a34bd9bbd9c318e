import { describe, expect, test } from 'vitest';
import type { Script } from '../../testing/scripted-openai.ts';
import type { FakeTool } from './testing/fakes.ts';
import { echo, inOrder, notices, partsOf, setupTurns, texts } from './testing/setup-turns.ts';

const KEYS = { anthropicApiKey: 'sk-ant-test', googleApiKey: 'AIza-test' };

const setup = (model: string, script: Script, tools: FakeTool[] = [echo], more: object = {}) =>
  setupTurns({ model, script, tools, models: { ...KEYS, ...more } });

describe.each([
  ['anthropic:claude-sonnet-5-5', 'anthropic', KEYS.anthropicApiKey],
  ['google:gemini-2.5-flash', 'gemini', KEYS.googleApiKey],
])('over %s', (model, api, key) => {
  test('[AL1] [AL4] a tool is called over its own API, the result goes back, the answer comes', async () => {
    const script = inOrder(
      { text: 'Let me see.', calls: [{ name: 'demo_echo', args: { text: 'x' } }] },
      { text: 'It says x.' },
    );
    const { turn, calls, openai } = await setup(model, script);
    const run = await turn('echo x');
    expect(run).toMatchObject({ status: 'idle', error: null });
    expect(openai.requests.map((one) => [one.api, one.authorization])).toEqual([
      [api, key],
      [api, key],
    ]);
    expect(openai.requests[0]?.toolNames).toEqual(['demo_echo']);
    expect([...calls.records.values()]).toMatchObject([
      { toolName: 'demo.echo', status: 'SUCCEEDED', args: { text: 'x' } },
    ]);
    expect(openai.requests[1]?.toolResults).toHaveLength(1);
    expect(openai.requests[1]?.toolResults[0]?.text).toContain('echo x');
    expect(texts(partsOf(run))).toEqual(['echo x', 'Let me see.', 'It says x.']);
  });

  test('[AL7] a stream that breaks off ends the turn', async () => {
    const { turn } = await setup(model, () => ({ text: 'half', cut: { after: 2, how: 'abrupt' } }));
    expect((await turn('go')).error).toMatchObject({ code: 'stream_cut' });
  });

  test('[AL65] [AL66] a key that is not set, or refused, is named by its variable', async () => {
    const name = api === 'gemini' ? 'GOOGLE_GENERATIVE_AI_API_KEY' : 'ANTHROPIC_API_KEY';
    const without = await setup(model, () => ({}), [echo], {
      anthropicApiKey: undefined,
      googleApiKey: undefined,
    });
    expect((await without.turn('go')).error).toMatchObject({
      code: 'no_api_key',
      params: { key: name },
    });
    expect(without.openai.requests).toEqual([]);
    const refused =
      api === 'gemini'
        ? { status: 400, error: { message: 'API key not valid. Please pass a valid API key.' } }
        : { status: 401, error: { message: 'invalid x-api-key' } };
    const wrong = await setup(model, () => refused);
    const { error } = await wrong.turn('go');
    expect(error).toMatchObject({ code: 'model_unauthenticated', params: { key: name } });
    expect(error?.message).toContain(name);
  });
});

const REF = {
  name: 'tree.add',
  schema: {
    type: 'object',
    properties: { node: { $ref: '#/$defs/n' }, mode: { const: 'x' } },
    required: ['node'],
    $defs: { n: { type: 'object', properties: { next: { $ref: '#/$defs/n' } } } },
  },
  run: () => ({ output: 1 }),
};

test.each([
  ['openai-chat:gpt-5', '"$ref"', '"const"'],
  ['openai:gpt-5', '"$ref"', '"const"'],
  ['anthropic:claude-sonnet-5-5', '"$ref"', '"const"'],
])('[AL35] %s is sent references and constants as they are', async (model, ...kept) => {
  const { turn, openai } = await setup(model, () => ({ text: 'ok' }), [REF]);
  await turn('go');
  const tools = JSON.stringify(openai.requests[0]?.body.tools);
  for (const word of kept) expect(tools).toContain(word);
});

test.each(['google:gemini-2.5-flash', 'compatible:qwen3:8b'])(
  '[AL35] %s is sent none of these',
  async (model) => {
    const { turn, openai } = await setup(model, () => ({ text: 'ok' }), [REF]);
    await turn('go');
    const tools = JSON.stringify(openai.requests[0]?.body.tools);
    expect(tools).not.toMatch(/\$ref|\$defs|"const"/);
    expect(tools).toContain('"enum":["x"]');
  },
);

const NOTE: FakeTool = {
  name: 'note.add',
  schema: {
    type: 'object',
    properties: { text: { type: 'string' }, tag: { type: 'string' } },
    required: ['text'],
  },
  run: () => ({ output: 'added' }),
};
const ANY: FakeTool = {
  name: 'note.any',
  schema: { type: 'object', properties: { value: {} } },
  run: () => ({ output: 1 }),
};

/** The parameters and the mark of each tool, as they stand in a request. */
const sentTools = (body: Record<string, unknown>) => JSON.stringify(body.tools);

test.each(['openai:gpt-5', 'openai-chat:gpt-5', 'compatible:qwen3:8b'])(
  '[AL37] [AL38] %s with strict_tools is sent the strict form, and a tool without one is left out',
  async (model) => {
    const settings = { [model]: { strict_tools: true } };
    const { turn, openai, calls } = await setup(
      model,
      inOrder({ calls: [{ name: 'note_add', args: { text: 'x', tag: null } }] }, { text: 'ok' }),
      [NOTE, ANY],
      { settings },
    );
    const run = await turn('note it');
    expect(notices(partsOf(run))).toEqual(['tools_unfit']);
    const sent = sentTools(openai.requests[0]?.body ?? {});
    expect(sent).toContain('"strict":true');
    expect(sent).toContain('"additionalProperties":false');
    expect(sent).toContain('"required":["text","tag"]');
    expect(openai.requests[0]?.toolNames).toEqual(['note_add']);
    expect([...calls.records.values()]).toMatchObject([{ toolName: 'note.add' }]);
  },
);

test('[AL37] without it a tool is not sent as a strict one', async () => {
  const { turn, openai } = await setup('openai:gpt-5', () => ({ text: 'ok' }), [NOTE, ANY]);
  await turn('note it');
  const sent = sentTools(openai.requests[0]?.body ?? {});
  expect(sent).not.toContain('"strict":true');
  expect(sent).toContain('"required":["text"]');
  expect(openai.requests[0]?.toolNames).toEqual(['note_add', 'note_any']);
});

const ODD: FakeTool = {
  name: 'mail.find',
  schema: { type: 'object', properties: { 'filter[id]': {} }, required: ['filter[id]'] },
  run: () => ({ output: 'found' }),
};

test('[AL38] a tool that one API takes in no form is left out for its models alone, once said', async () => {
  const script = inOrder(
    { calls: [{ name: 'mail_find', args: { 'filter[id]': 1 } }] },
    { text: 'ok' },
  );
  const anthropic = await setup('anthropic:claude-sonnet-5-5', script, [echo, ODD]);
  const run = await anthropic.turn('find');
  expect(anthropic.openai.requests.map(({ toolNames }) => toolNames)).toEqual([
    ['demo_echo'],
    ['demo_echo'],
  ]);
  expect([...anthropic.calls.records.values()][0]?.error?.reason).toBe('not_offered');
  const notices = partsOf(run).filter(({ type }) => type === 'notice');
  expect(notices).toEqual([
    {
      type: 'notice',
      code: 'tools_unfit',
      text: expect.stringContaining('mail.find is not offered to'),
      params: expect.objectContaining({ tool: 'mail.find', more: 0 }),
    },
  ]);
  const openai = await setup('openai-chat:gpt-5', script, [echo, ODD]);
  await openai.turn('find');
  expect([...openai.calls.records.values()]).toMatchObject([{ status: 'SUCCEEDED' }]);
});

/** Anthropic answers 400 to a history with calls where the request defines no tool. */
const sentWithLast = ({ openai }: Awaited<ReturnType<typeof setup>>) =>
  openai.requests.map(({ toolNames, body }) => [toolNames, body.tool_choice]);

test('[AL3] with the last answer Anthropic is sent the tools of its calls, and may call none', async () => {
  const call = { calls: [{ name: 'demo_echo', args: { text: 'x' } }] };
  const script = inOrder(call, { text: 'I had to stop.', ...call });
  const made = await setupTurns({
    ...{ model: 'anthropic:claude-sonnet-5-5', script, tools: [echo], models: KEYS },
    agent: { maxSteps: 1 },
  });
  const run = await made.turn('loop');
  expect(sentWithLast(made)).toEqual([
    [['demo_echo'], { type: 'auto' }],
    [['demo_echo'], { type: 'none' }],
  ]);
  expect(notices(partsOf(run))).toEqual(['step_limit']);
  expect(made.calls.records.size).toBe(1);
});

test('[AL44] so it is where no tool is offered any more', async () => {
  const tools: FakeTool[] = [];
  tools.push({
    name: 'demo.last',
    run: () => {
      tools.pop();
      return { output: 'gone' };
    },
  });
  const script = inOrder({ calls: [{ name: 'demo_last', args: {} }] }, { text: 'It is gone.' });
  const made = await setup('anthropic:claude-sonnet-5-5', script, tools);
  const run = await made.turn('go');
  expect(sentWithLast(made)[1]).toEqual([['demo_last'], { type: 'none' }]);
  expect(run.status).toBe('idle');
});
