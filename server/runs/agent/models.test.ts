import { describe, expect, onTestFinished, test } from 'vitest';
import { createRehearsalModel } from '../../rehearsal/rehearsal-model.ts';
import { createScriptedOpenAI } from '../../testing/scripted-openai.ts';
import { takesImages } from './model-facts.ts';
import { Models, type ModelsOptions } from './models.ts';
import { systemClock } from './testing/fakes.ts';

const make = (given: Partial<ModelsOptions> = {}) =>
  new Models({
    openaiApiKey: undefined,
    openaiBaseUrl: undefined,
    defaultModel: undefined,
    rehearsal: createRehearsalModel({ clock: systemClock, paceMs: 0 }),
    clock: systemClock,
    ...given,
  });

const namesOf = (models: ReturnType<typeof make>) => models.list().map(({ model }) => model);

describe('the default', () => {
  test('[AL60] is the rehearsal model without anything', () => {
    expect(make().defaultModel).toBe('rehearsal');
  });

  test('[AL60] is the first real model with a key', () => {
    const models = make({ openaiApiKey: 'sk-x' });
    expect(models.defaultModel).toMatch(/^openai:/);
    expect(models.list().filter((one) => one.default)).toHaveLength(1);
  });

  test('[AL60] is CALLBOARD_MODEL when it is given, and that is listed first', () => {
    const models = make({ openaiApiKey: 'sk-x', defaultModel: 'openai-chat:gpt-9' });
    expect(models.defaultModel).toBe('openai-chat:gpt-9');
    expect(namesOf(models)[0]).toBe('openai-chat:gpt-9');
    expect(make({ openaiApiKey: 'sk-x', defaultModel: 'rehearsal' }).defaultModel).toBe(
      'rehearsal',
    );
  });

  test.each([
    ['gpt-5', 'OPENAI_API_KEY'],
    ['anthropic:claude-sonnet-5-5', 'ANTHROPIC_API_KEY'],
    ['compatible:qwen3:8b', 'OPENAI_BASE_URL'],
  ])('[AL60] of the default %s without its key the start names %s', (defaultModel, name) => {
    const models = make({ defaultModel });
    expect(models.trouble?.message).toBe(`It cannot answer: ${name} is not set.`);
    expect(models.list()[0]).toMatchObject({ default: true, available: false });
  });

  test('[AL60] a default that is set up lacks nothing', () => {
    const models = make({ openaiApiKey: 'sk-x', defaultModel: 'gpt-5' });
    expect([models.trouble, models.list()[0]?.available]).toEqual([undefined, undefined]);
    expect(make({ defaultModel: 'rehearsal' }).trouble).toBeUndefined();
    expect(make({}).trouble).toBeUndefined();
  });

  test('[AL61] without a prefix it belongs to what is set up', () => {
    expect(make({ openaiApiKey: 'sk-x', defaultModel: 'gpt-9' }).defaultModel).toBe('openai:gpt-9');
    expect(
      make({ openaiBaseUrl: 'http://127.0.0.1:9/v1', defaultModel: 'qwen3:8b' }).defaultModel,
    ).toBe('compatible:qwen3:8b');
  });
});

describe('a reference', () => {
  test('[AL61] an id that is listed is found without its prefix', () => {
    const resolved = make({ openaiApiKey: 'sk-x' }).resolve('gpt-5');
    expect(resolved).toEqual({ ok: true, ref: 'openai:gpt-5' });
  });

  test('any id of a provider that is set up can be named', async () => {
    const opened = await make({ openaiApiKey: 'sk-x' }).open('openai:gpt-99-preview');
    expect(opened).toMatchObject({
      ok: true,
      model: { imageWay: 'tool_result', providerOptions: { openai: { store: false } } },
    });
  });

  test.each(['nonsense', 'openai:', 'openai:a b', 'other:x', 'compatible:x', 'openai:gpt-5', ''])(
    '[AL62] %j is refused without a key, with the list',
    (ref) => {
      expect(make().resolve(ref)).toEqual({
        ok: false,
        message: expect.stringContaining('There are: rehearsal.'),
      });
    },
  );

  test('[AL65] a default without its key is listed and can be asked, to say what is missing', () => {
    const models = make({ defaultModel: 'openai:gpt-5' });
    expect(namesOf(models)).toEqual(['openai:gpt-5', 'rehearsal']);
    expect(models.resolve()).toEqual({ ok: true, ref: 'openai:gpt-5' });
  });
});

describe('the list', () => {
  test('[AL63] holds what the server of OPENAI_BASE_URL has', async () => {
    const ids = ['llava:7b', 'qwen3:8b'];
    const openai = await createScriptedOpenAI({ script: () => ({}), models: ids });
    onTestFinished(openai.close);
    const models = make({ openaiBaseUrl: `${openai.url}/` });
    expect(models.defaultModel).toBe('compatible');
    expect(await models.discover()).toEqual({ ok: true, ids });
    expect(namesOf(models)).toEqual(['compatible:llava:7b', 'compatible:qwen3:8b', 'rehearsal']);
    expect(models.defaultModel).toBe('compatible:llava:7b');
    expect(models.list().map(({ images }) => images)).toEqual([false, false, false]);
  });

  const answers = (answer: () => Promise<Response>) =>
    make({ openaiBaseUrl: 'http://models.test', fetch: answer }).discover();

  test.each([
    ['fails', 'ECONNREFUSED', () => Promise.reject(new Error('ECONNREFUSED'))],
    ['answers 500', 'HTTP 500', () => Promise.resolve(new Response('', { status: 500 }))],
    ['answers no JSON', 'not valid JSON', () => Promise.resolve(new Response('x'))],
    ['answers 404', 'is /v1 missing', () => Promise.resolve(new Response('', { status: 404 }))],
    ['answers a web page', 'is /v1 missing', () => Promise.resolve(new Response('<html>'))],
    ['answers another shape', 'no list', () => Promise.resolve(Response.json({ data: 'x' }))],
  ])('[AL63] the rest works when it %s', async (_, why, answer) => {
    expect(await answers(answer)).toEqual({ ok: false, message: expect.stringContaining(why) });
  });

  test('[AL63] an odd entry costs itself alone, in a list of any form', async () => {
    const path = `/srv/models/${'m'.repeat(190)}.gguf`;
    const odd = [{ id: 5 }, { name: 'x' }, null, { id: 'x'.repeat(300) }, { id: '' }, 'x', []];
    const data = [{ id: 'good' }, ...odd, { id: path, max_model_len: 'many' }];
    for (const body of [{ data, object: 5 }, { models: data }, data]) {
      const listed = await answers(() => Promise.resolve(Response.json(body)));
      expect(listed).toEqual({ ok: true, ids: ['good', path] });
    }
  });

  test('[AL63] it is given two seconds', async () => {
    let bound: (() => void) | undefined;
    const models = make({
      openaiBaseUrl: 'http://models.test/v1',
      clock: {
        now: () => 0,
        schedule: (ms, fire) => {
          expect(ms).toBe(2_000);
          bound = fire;
          return () => undefined;
        },
      },
      fetch: (_, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
        }),
    });
    const discovery = models.discover();
    bound?.();
    expect(await discovery).toEqual({ ok: false, message: expect.stringContaining('2000 ms') });
  });

  test('[AL64] the rehearsal model is there and says what it is', () => {
    for (const models of [make(), make({ openaiApiKey: 'sk-x' })]) {
      expect(models.list().at(-1)).toMatchObject({
        model: 'rehearsal',
        rehearsal: true,
        label: expect.stringContaining('not an LLM'),
      });
      expect(models.resolve('rehearsal').ok).toBe(true);
    }
  });
});

describe('settings of a model', () => {
  const settings = {
    'compatible:gemma3:4b': { tool_calling: 'text' as const, images: false },
    'openai:my-model': { images: true },
    'openai:gpt-4o': { tool_calling: 'text' as const },
  };
  const given = { openaiBaseUrl: 'http://127.0.0.1:9/v1', settings };

  test('[AL134] are what it can do, and its id says nothing', async () => {
    const open = async (ref: string) => {
      const opened = await make(given).open(ref);
      return opened.ok ? [opened.model.toolPrompt !== null, opened.model.imageWay] : opened.error;
    };
    expect(await open('compatible:gemma3:4b')).toEqual([true, 'none']);
    expect(await open('compatible:gemma3:12b')).toEqual([false, 'none']);
    expect(await open('openai:my-model')).toEqual([false, 'tool_result']);
    // Its tool results are text, which cannot hold a picture.
    expect(await open('openai:gpt-4o')).toEqual([true, 'user_message']);
  });

  test('[AL134] are listed', () => {
    const models = make({ ...given, defaultModel: 'compatible:gemma3:4b' });
    expect(models.list()[0]).toMatchObject({ images: false, tool_calling: 'text' });
    expect(models.list()[1]).not.toHaveProperty('tool_calling');
  });
});

test.each([
  ['gpt-4o-mini', true],
  ['gpt-5', true],
  ['gpt-4.1', true],
  ['o3', true],
  ['o3-mini', false],
  ['gpt-3.5-turbo', false],
  ['claude-haiku-5-5', true],
  ['gemini-2.5-flash', true],
  ['my-model', false],
])('%s takes images: %s', (id, expected) => {
  expect(takesImages(id)).toBe(expected);
});

describe('providers by their keys', () => {
  const keys = { anthropicApiKey: 'a', googleApiKey: 'g' };
  const providers = (models: ReturnType<typeof make>) => [
    ...new Set(models.list().map(({ provider }) => provider)),
  ];

  test('[AL60] [AL61] each has its models in the list, and the first of them is the default', () => {
    const both = make(keys);
    expect(providers(both)).toEqual(['Anthropic', 'Google', 'Callboard']);
    expect(both.defaultModel).toMatch(/^anthropic:/);
    expect(make({ googleApiKey: 'g', defaultModel: 'gemini-9' }).defaultModel).toBe(
      'google:gemini-9',
    );
    expect(providers(make({ ...keys, openaiApiKey: 'sk-x' }))[0]).toBe('OpenAI');
  });

  test('[AL61] beside a server of one’s own too, which goes first', () => {
    const models = make({ ...keys, openaiBaseUrl: 'http://127.0.0.1:9/v1' });
    expect(models.defaultModel).toBe('compatible');
    expect(
      namesOf(
        make({ ...keys, openaiApiKey: 'sk-x', openaiBaseUrl: 'http://127.0.0.1:9/v1' }),
      ).filter((name) => name.startsWith('openai')),
    ).toEqual([]);
    expect(models.resolve('google:gemini-9')).toEqual({ ok: true, ref: 'google:gemini-9' });
  });

  test.each(['anthropic:claude-x', 'google:gemini-x'])('[AL62] %s needs its key', (ref) => {
    expect(make({ openaiApiKey: 'sk-x' }).resolve(ref).ok).toBe(false);
    expect(make({ openaiBaseUrl: 'http://127.0.0.1:9/v1' }).resolve(ref).ok).toBe(false);
  });
});
