import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4FunctionTool,
  type LanguageModelV4Prompt,
  LoadAPIKeyError,
} from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import { isRecord } from '#lib/json/is-record';
import {
  FIRST_OF_ENDPOINT,
  KEY_NAMES,
  type ModelProvider,
  type ModelRef,
  parseModelRef,
  REHEARSAL,
} from '#lib/protocol/model-ref';
import type { RunSettings } from '#lib/protocol/run';
import { given } from '#lib/util/given';
import { withReadableAnswers } from './answers/read-answers.ts';
import type { Endpoint } from './endpoint.ts';
import { fillingsOf, type Lesson } from './lessons.ts';
import { withLifeSigns } from './silence-watch.ts';
export interface LanguageModelsOptions {
  readonly openaiApiKey: string | undefined;
  readonly openaiBaseUrl: string | undefined;
  readonly anthropicApiKey?: string | undefined;
  readonly anthropicBaseUrl?: string | undefined;
  readonly googleApiKey?: string | undefined;
  readonly googleBaseUrl?: string | undefined;
  readonly rehearsal: LanguageModelV4;
  readonly fetch?: typeof fetch;
}

const OPENAI_URL = 'https://api.openai.com/v1';
const ANTHROPIC_URL = 'https://api.anthropic.com/v1';
const GOOGLE_URL = 'https://generativelanguage.googleapis.com/v1beta';

const refuseWithout =
  (name: string): typeof fetch =>
  () =>
    Promise.reject(new LoadAPIKeyError({ message: `${name} is not set.` }));

/** All is given here, since the SDK reads the environment for what is not. */
export function createLanguageModels(options: LanguageModelsOptions) {
  const { openaiApiKey, openaiBaseUrl, anthropicApiKey, googleApiKey, rehearsal } = options;
  const ownFetch = withLifeSigns(options.fetch ?? fetch);
  const openai = (fetchFrom: typeof fetch) =>
    createOpenAI({
      // Servers of one's own often want no key, and the SDK always wants one.
      apiKey: openaiApiKey ?? 'none',
      baseURL: openaiBaseUrl ?? OPENAI_URL,
      fetch:
        openaiApiKey === undefined && openaiBaseUrl === undefined
          ? refuseWithout(KEY_NAMES.openai)
          : withReadableAnswers(fetchFrom),
    });
  const compatible = (fetchFrom: typeof fetch) =>
    createOpenAICompatible({
      name: 'compatible',
      baseURL: openaiBaseUrl ?? 'http://127.0.0.1:9',
      // Sent as `stream_options`: without it a stream has no count of tokens.
      includeUsage: true,
      ...(openaiApiKey === undefined ? {} : { apiKey: openaiApiKey }),
      fetch: withReadableAnswers(fetchFrom),
    });
  const anthropic = (fetchFrom: typeof fetch) =>
    createAnthropic({
      apiKey: anthropicApiKey ?? 'none',
      baseURL: options.anthropicBaseUrl ?? ANTHROPIC_URL,
      fetch: anthropicApiKey === undefined ? refuseWithout(KEY_NAMES.anthropic) : fetchFrom,
    });
  const google = (fetchFrom: typeof fetch) =>
    createGoogle({
      apiKey: googleApiKey ?? 'none',
      baseURL: options.googleBaseUrl ?? GOOGLE_URL,
      fetch: googleApiKey === undefined ? refuseWithout(KEY_NAMES.google) : fetchFrom,
    });
  return ({ provider, id }: ModelRef, lesson: Lesson): LanguageModelV4 => {
    const fetchFrom = withLesson(ownFetch, lesson);
    switch (provider) {
      case 'openai':
        return openai(fetchFrom).responses(id);
      case 'openai-chat':
        return openai(fetchFrom).chat(id);
      case 'compatible':
        return compatible(fetchFrom).chatModel(id);
      case 'anthropic':
        return withPastTools(withCacheMarks(anthropic(fetchFrom).languageModel(id)));
      case 'google':
        return google(fetchFrom).languageModel(id);
      case 'rehearsal':
        return rehearsal;
    }
  };
}

/** `fetch` that sends the JSON of a provider's SDK as its server takes it (AL220). */
function withLesson(fetchFrom: typeof fetch, lesson: Lesson): typeof fetch {
  const { without, filled } = lesson;
  if (without.size === 0 && filled.size === 0) return fetchFrom;
  return (input, init) => {
    if (typeof init?.body !== 'string') return fetchFrom(input, init);
    const body: unknown = JSON.parse(init.body);
    for (const { message, field, value } of fillingsOf(body, filled)) message[field] = value;
    dropFields(body, without);
    return fetchFrom(input, { ...init, body: JSON.stringify(body) });
  };
}

/** These hold what people, models and tools wrote, which is no field of the request. */
const CONTENT = new Set([
  ...['input_schema', 'parameters', 'parametersJsonSchema', 'args', 'response'],
  ...['arguments', 'output', 'properties'],
]);

function dropFields(value: unknown, without: Lesson['without'], name = ''): void {
  if (Array.isArray(value)) for (const one of value) dropFields(one, without);
  else if (isRecord(value)) {
    // `input` is a list of messages, and the object of a call's arguments.
    if (CONTENT.has(name) || name === 'input') return;
    for (const key of Object.keys(value)) {
      if (without.has(key)) delete value[key];
      else dropFields(value[key], without, key);
    }
  }
}

/** Offered with a key; any other id works too when it is named. */
const OPENAI_IDS = ['gpt-5', 'gpt-5-mini', 'gpt-4.1', 'gpt-4o-mini'];
const ANTHROPIC_IDS = ['claude-sonnet-5-5', 'claude-opus-5-5', 'claude-haiku-5-5'];
const GOOGLE_IDS = ['gemini-3.8-flash', 'gemini-2.5-pro', 'gemini-2.5-flash'];

type Keys = Pick<LanguageModelsOptions, 'openaiApiKey' | 'anthropicApiKey' | 'googleApiKey'>;

/** Which providers of models are set up, and what they list. */
export function createProviders(keys: Keys, endpoint: Endpoint | undefined) {
  const keyed = keyedProviders(keys);

  const ofEndpoint = (isConfigured: boolean): string[] => {
    if (!endpoint) return [];
    if (endpoint.ids.length > 0) return endpoint.ids.map((id) => `compatible:${id}`);
    // The rehearsal never replaces what is configured without a word.
    return isConfigured ? [] : [FIRST_OF_ENDPOINT];
  };

  /** To which an id without a prefix belongs. */
  const first: ModelProvider = endpoint ? 'compatible' : (keyed[0]?.provider ?? 'openai');
  return {
    first,
    isSetUp(ref: string): boolean {
      const provider = parseModelRef(ref)?.provider;
      if (provider === REHEARSAL) return true;
      const owner = provider === 'openai-chat' ? 'openai' : provider;
      if (endpoint && (owner === 'openai' || owner === 'compatible')) return true;
      return keyed.some((one) => one.provider === owner);
    },
    /** The models to choose from, as references. `isConfigured`: there is a default besides. */
    list: (isConfigured: boolean): string[] => [
      ...ofEndpoint(isConfigured),
      ...keyed
        // OpenAI's key is the key of the server behind a base URL.
        .filter(({ provider }) => !(endpoint && provider === 'openai'))
        .flatMap(({ provider, ids }) => ids.map((id) => `${provider}:${id}`)),
    ],
  };
}

/** Lists the providers whose keys are set, in order. */
const keyedProviders = ({ openaiApiKey, anthropicApiKey, googleApiKey }: Keys) =>
  [
    { provider: 'openai' as const, key: openaiApiKey, ids: OPENAI_IDS },
    { provider: 'anthropic' as const, key: anthropicApiKey, ids: ANTHROPIC_IDS },
    { provider: 'google' as const, key: googleApiKey, ids: GOOGLE_IDS },
  ].filter(({ key }) => key !== undefined);

/** The model, asked with these settings: each provider's SDK has its own fields for them. */
export function withSettings(
  model: LanguageModelV4,
  { temperature, reasoning_effort: reasoning }: RunSettings,
): LanguageModelV4 {
  if (temperature === undefined && reasoning === undefined) return model;
  return changed(model, (params) => ({
    ...params,
    ...given({ temperature, reasoning }),
  }));
}

const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * For Anthropic, which keeps a prompt only to a mark: behind the tools, the instructions, and the
 * last message, with which the prompt of the next step begins.
 */
const withCacheMarks = (model: LanguageModelV4): LanguageModelV4 =>
  changed(model, ({ prompt, tools, ...params }) => {
    const system = prompt.findLastIndex(({ role }) => role === 'system');
    const marked = prompt.map((message, at) =>
      at === system || at === prompt.length - 1 ? withMark(message) : message,
    );
    const lastTool = tools?.at(-1);
    const markedTools =
      lastTool?.type === 'function' ? [...(tools ?? []).slice(0, -1), withMark(lastTool)] : tools;
    return { ...params, prompt: marked, ...(markedTools && { tools: markedTools }) };
  });

const withMark = <Part extends { providerOptions?: object }>(part: Part): Part => ({
  ...part,
  providerOptions: { ...part.providerOptions, ...MARK },
});

const changed = (
  model: LanguageModelV4,
  change: (params: LanguageModelV4CallOptions) => LanguageModelV4CallOptions,
): LanguageModelV4 =>
  wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      transformParams: async ({ params }) => change(params),
    },
  });

/**
 * For an API that refuses a history with calls where the request defines no tool: the tools of that
 * history are named then, and none of them may be called (AL3).
 */
const withPastTools = (model: LanguageModelV4): LanguageModelV4 =>
  changed(model, (params) => {
    if (params.tools?.length) return params;
    const tools = toolsCalledIn(params.prompt);
    return tools.length === 0 ? params : { ...params, tools, toolChoice: { type: 'none' } };
  });

function toolsCalledIn(prompt: LanguageModelV4Prompt): LanguageModelV4FunctionTool[] {
  const names = prompt.flatMap(({ role, content }) =>
    role === 'assistant'
      ? content.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : []))
      : [],
  );
  return [...new Set(names)].map((name) => ({
    type: 'function',
    name,
    description: 'It was called before, and cannot be called now.',
    inputSchema: { type: 'object', properties: {} },
  }));
}
