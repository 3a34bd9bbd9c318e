import { describe, expect, test } from 'vitest';
import { factsOf } from './model-facts.ts';
import type { FakeTool } from './testing/fakes.ts';
import { inOrder, setupTurns } from './testing/setup-turns.ts';

const shot: FakeTool = {
  name: 'shot',
  run: () => ({
    output: 'taken',
    attachments: [{ blob_id: 'blob_1', media_type: 'image/png', size: 5, width: 2, height: 1 }],
  }),
};
const script = inOrder({ calls: [{ name: 'shot', args: {} }] }, { text: 'Seen.' });

describe('what the server of OPENAI_BASE_URL says of a model', () => {
  test('[AL190] entries of the lists of vLLM, OpenRouter, Groq, Mistral, llama.cpp and Ollama', () => {
    expect(factsOf({ id: 'a', max_model_len: 32_768 })).toEqual({ contextTokens: 32_768 });
    expect(
      factsOf({
        context_length: 128_000,
        architecture: { input_modalities: ['text', 'image'] },
        supported_parameters: ['temperature'],
      }),
    ).toEqual({ contextTokens: 128_000, images: true, tools: false });
    expect(factsOf({ context_window: 8_192 })).toEqual({ contextTokens: 8_192 });
    const mistral = { capabilities: { vision: false, function_calling: true } };
    expect(factsOf({ ...mistral, max_context_length: 32_000 })).toEqual({
      ...{ images: false, tools: true, contextTokens: 32_000 },
    });
    expect(factsOf({ meta: { n_ctx: 4_096 } })).toEqual({ contextTokens: 4_096 });
    expect(factsOf({ capabilities: ['completion', 'vision'] })).toEqual({
      ...{ images: true, tools: false },
    });
  });

  test.each([null, 7, [], {}, { context_length: -1, capabilities: 7, meta: 'x' }])(
    '[AL190] %j says nothing',
    (entry) => expect(factsOf(entry)).toEqual({}),
  );

  test('[AL190] a model that takes tools and pictures by the list is sent both', async () => {
    const { turn, openai, models } = await setupTurns({
      ...{ script, tools: [shot], model: 'compatible:house' },
      listed: [{ id: 'house', capabilities: ['tools', 'vision'], context_length: 40_000 }],
    });
    await models.discover();
    await turn('Look');
    expect(openai.requests[1]?.toolNames).toEqual(['shot']);
    expect(openai.requests[1]?.images).toHaveLength(1);
    expect(models.list()[0]).toMatchObject({ images: true, context_tokens: 40_000 });
    expect(models.list()[0]).not.toHaveProperty('tool_calling');
  });

  test('[AL191] where the list has ids alone the model is asked for, and one without tools reads them in the prompt', async () => {
    const { turn, openai, models } = await setupTurns({
      ...{ tools: [shot], model: 'compatible:gemma3:4b', listed: ['gemma3:4b'] },
      shows: { 'gemma3:4b': { capabilities: ['completion', 'vision'] } },
      script: inOrder(
        { text: '<tool_call>{"name": "shot", "arguments": {}}</tool_call>' },
        { text: 'Seen.' },
      ),
    });
    await models.discover();
    await turn('Look');
    expect(openai.requests.map(({ toolNames }) => toolNames)).toEqual([[], []]);
    expect(openai.requests[1]?.images).toHaveLength(1);
    expect(models.list()[0]).toMatchObject({ images: true, tool_calling: 'text' });
  });

  test('[AL191] a model of which nothing is said takes tools, and pictures in words, whatever its name', async () => {
    const { turn, openai, models } = await setupTurns({
      ...{ script, tools: [shot], model: 'compatible:gpt-4o', listed: ['gpt-4o'] },
    });
    await models.discover();
    await turn('Look');
    expect(openai.requests[1]?.toolNames).toEqual(['shot']);
    expect(openai.requests[1]?.images).toEqual([]);
  });

  test('[AL134] [AL190] the configuration goes before what the server says', async () => {
    const { turn, openai, models } = await setupTurns({
      ...{ script, tools: [shot], model: 'compatible:house' },
      listed: [{ id: 'house', capabilities: ['completion'], context_length: 40_000 }],
      models: {
        settings: {
          'compatible:house': { tool_calling: 'native', images: true, context_tokens: 9_000 },
        },
      },
    });
    await models.discover();
    await turn('Look');
    expect(openai.requests[1]?.toolNames).toEqual(['shot']);
    expect(openai.requests[1]?.images).toHaveLength(1);
    expect(models.list()[0]).toMatchObject({ context_tokens: 9_000 });
  });
});

const bodyOf = async (model: string, parallelCalls: boolean) => {
  const { turn, openai } = await setupTurns({
    ...{ script, tools: [shot], model },
    models: {
      settings: { [model]: { parallel_calls: parallelCalls } },
      anthropicApiKey: 'a',
    },
  });
  await turn('Look');
  return openai.requests[0]?.body;
};

test.each([
  ['openai:gpt-5', { parallel_tool_calls: false }],
  ['openai-chat:gpt-4o', { parallel_tool_calls: false }],
  ['compatible:house', { parallel_tool_calls: false }],
  ['anthropic:claude-x', { tool_choice: { disable_parallel_tool_use: true } }],
])('[AL192] one call at a time is asked of %s in the words of its API', async (model, words) => {
  expect(await bodyOf(model, false)).toMatchObject(words);
  const usual = JSON.stringify(await bodyOf(model, true));
  expect(usual).not.toMatch(/parallel_tool_calls|disable_parallel_tool_use":true/);
});
