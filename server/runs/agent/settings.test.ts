import { expect, test } from 'vitest';
import type { ScriptedRequest } from '../../testing/scripted-openai.ts';
import { echo, inOrder, setupTurns } from './testing/setup-turns.ts';

const KEYS = { anthropicApiKey: 'sk-ant-test', googleApiKey: 'AIza-test' };

test.each([
  ['compatible:any', { temperature: 0.5, reasoning_effort: 'low' }],
  ['openai:gpt-5', { reasoning: { effort: 'low' } }],
  ['anthropic:claude-sonnet-4-5', { thinking: { type: 'enabled' } }],
  ['google:gemini-2.5-flash', { generationConfig: { temperature: 0.5, thinkingConfig: {} } }],
])(
  '[AL230] %s is asked as the run says, else its configuration, else that of the agent',
  async (model, sent) => {
    const asked = {
      instructions: 'Of the model.',
      reasoning_effort: 'low',
      temperature: 1,
    } as const;
    const { runs, start, openai } = await setupTurns({
      model,
      script: () => ({ text: 'ok' }),
      agent: {
        settings: { instructions: 'Of the agent.', temperature: 0, reasoning_effort: 'high' },
      },
      models: { ...KEYS, settings: { [model]: asked } },
    });
    const runId = await start('go', {
      settings: { instructions: 'Of the run.', temperature: 0.5 },
    });
    await expect.poll(() => openai.requests.length).toBe(1);
    expect(openai.requests[0]?.body).toMatchObject(sent);
    const words = JSON.stringify(openai.requests[0]?.body);
    for (const one of ['agent', 'model', 'run']) expect(words).toContain(`Of the ${one}.`);
    await expect.poll(async () => (await runs.get(runId))?.status).toBe('idle');
  },
);

test('[AL230] a run keeps its settings over a restart, until a message changes them', async () => {
  const first = await setupTurns({ model: 'compatible:any', script: () => ({ text: 'ok' }) });
  const settings = { temperature: 0.5, reasoning_effort: 'low' } as const;
  const runId = await first.start('go', { settings });
  await first.ended(runId);
  const again = await first.restarted({});
  await again.runs.send(runId, { input: 'more' });
  await again.ended(runId);
  expect(again.openai.requests[0]?.body).toMatchObject(settings);
  const changed = { temperature: null, reasoning_effort: 'high' } as const;
  await again.runs.send(runId, { input: 'more', settings: changed });
  await expect.poll(() => again.openai.requests.length).toBe(2);
  expect(again.openai.requests[1]?.body).toMatchObject({ reasoning_effort: 'high' });
  expect(again.openai.requests[1]?.body).not.toHaveProperty('temperature');
});

test('[AL231] Anthropic is sent marks for its cache', async () => {
  const script = inOrder({ calls: [{ name: 'demo_echo', args: {} }] }, { text: 'ok' });
  const model = 'anthropic:claude-sonnet-5-5';
  const { turn, openai } = await setupTurns({ model, script, tools: [echo], models: KEYS });
  await turn('go');
  const mark = { cache_control: { type: 'ephemeral' } };
  for (const { body } of openai.requests) {
    expect(body).toMatchObject({ system: [mark], tools: [mark] });
    expect(lastPart(body)).toMatchObject(mark);
  }
});

function lastPart({ messages }: ScriptedRequest['body']): unknown {
  const [last] = Array.isArray(messages) ? messages.slice(-1) : [];
  return last?.content.at(-1);
}

test.each([
  [
    'anthropic:claude-sonnet-5-5',
    { anthropicBaseUrl: 'http://proxy.example/a/v1' },
    '/a/v1/messages',
  ],
  ['google:gemini-2.5-flash', { googleBaseUrl: 'http://proxy.example/g' }, '/g/models/'],
])('[AL232] %s is asked at its base URL', async (model, base, path) => {
  const asked: string[] = [];
  const { turn } = await setupTurns({
    model,
    script: () => ({ text: 'ok' }),
    models: {
      ...{ ...KEYS, ...base },
      fetch: async (input) => {
        asked.push(String(input));
        return new Response('no', { status: 404 });
      },
    },
  });
  await turn('go');
  expect(asked).toEqual([expect.stringContaining(`http://proxy.example${path}`)]);
});
