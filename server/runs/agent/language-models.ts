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
  type SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import { isRecord } from '#lib/json/is-record';
import { keyNameOf, type ModelProvider, type ModelRef } from '#lib/protocol/model-ref';
import { given } from '#lib/util/given';
import { withReadableAnswers } from './answers/read-answers.ts';
import { fillingsOf, type Lesson } from './lessons.ts';
import type { SchemaTarget } from './schema-targets.ts';
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

/** All that differs from provider to provider. */
interface Provider {
  /** People read it in lists. */
  readonly name: string;
  /** Offered where it is set up; any other id works too when it is named. */
  readonly ids: readonly string[];
  readonly schemaTarget: SchemaTarget;
  /** Its API takes pictures in the result of a tool. */
  readonly hasResultImages: boolean;
  isSetUp(options: LanguageModelsOptions): boolean;
  /** `parallel` is false where one call may come at a time. */
  fields(parallel: false | undefined): SharedV4ProviderOptions;
  /** All is given here, since the SDK reads the environment for what is not. */
  open(options: LanguageModelsOptions, fetchFrom: typeof fetch, id: string): LanguageModelV4;
}

const openOpenAI = (
  { openaiApiKey, openaiBaseUrl = OPENAI_URL }: LanguageModelsOptions,
  fetchFrom: typeof fetch,
) =>
  createOpenAI({
    // Servers of one's own often want no key, and the SDK always wants one.
    apiKey: openaiApiKey ?? 'none',
    baseURL: openaiBaseUrl,
    fetch: withReadableAnswers(fetchFrom),
  });

const hasOpenAI = ({ openaiApiKey, openaiBaseUrl }: LanguageModelsOptions): boolean =>
  openaiApiKey !== undefined || openaiBaseUrl !== undefined;

export const PROVIDERS: Readonly<Record<ModelProvider, Provider>> = {
  openai: {
    name: 'OpenAI',
    ids: ['gpt-5', 'gpt-5-mini', 'gpt-4.1', 'gpt-4o-mini'],
    schemaTarget: 'openai',
    hasResultImages: true,
    isSetUp: hasOpenAI,
    // Stored responses are sent as references, and ours come from our own record.
    fields: (parallel) => ({ openai: { store: false, parallelToolCalls: parallel } }),
    open: (options, fetchFrom, id) => openOpenAI(options, fetchFrom).responses(id),
  },
  'openai-chat': {
    name: 'OpenAI (chat)',
    ids: [],
    schemaTarget: 'openai',
    hasResultImages: false,
    isSetUp: hasOpenAI,
    fields: (parallel) => ({ openai: { parallelToolCalls: parallel } }),
    open: (options, fetchFrom, id) => openOpenAI(options, fetchFrom).chat(id),
  },
  compatible: {
    name: 'OpenAI-compatible',
    ids: [],
    // Which server and which model it is, nothing says.
    schemaTarget: 'conservative',
    hasResultImages: false,
    isSetUp: ({ openaiBaseUrl }) => openaiBaseUrl !== undefined,
    fields: (parallel) => ({ compatible: { parallel_tool_calls: parallel } }),
    open: ({ openaiApiKey, openaiBaseUrl = 'http://127.0.0.1:9' }, fetchFrom, id) =>
      createOpenAICompatible({
        name: 'compatible',
        baseURL: openaiBaseUrl,
        // Sent as `stream_options`: without it a stream has no count of tokens.
        includeUsage: true,
        ...given({ apiKey: openaiApiKey }),
        fetch: withReadableAnswers(fetchFrom),
      }).chatModel(id),
  },
  anthropic: {
    name: 'Anthropic',
    ids: ['claude-sonnet-5-5', 'claude-opus-5-5', 'claude-haiku-5-5'],
    schemaTarget: 'anthropic',
    hasResultImages: true,
    isSetUp: ({ anthropicApiKey }) => anthropicApiKey !== undefined,
    fields: (parallel) => ({
      anthropic: given({ disableParallelToolUse: parallel === false || undefined }),
    }),
    open({ anthropicApiKey, anthropicBaseUrl = ANTHROPIC_URL }, fetchFrom, id) {
      const apiKey = anthropicApiKey ?? 'none';
      const provider = createAnthropic({ apiKey, baseURL: anthropicBaseUrl, fetch: fetchFrom });
      return withPastTools(withCacheMarks(provider.languageModel(id)));
    },
  },
  google: {
    name: 'Google',
    ids: ['gemini-3.8-flash', 'gemini-2.5-pro', 'gemini-2.5-flash'],
    schemaTarget: 'gemini',
    hasResultImages: false,
    isSetUp: ({ googleApiKey }) => googleApiKey !== undefined,
    // Its API has no word for calls one at a time.
    fields: () => ({}),
    open({ googleApiKey, googleBaseUrl = GOOGLE_URL }, fetchFrom, id) {
      const apiKey = googleApiKey ?? 'none';
      const provider = createGoogle({ apiKey, baseURL: googleBaseUrl, fetch: fetchFrom });
      return provider.languageModel(id);
    },
  },
  rehearsal: {
    name: 'Callboard',
    ids: [],
    schemaTarget: 'openai',
    hasResultImages: false,
    isSetUp: () => true,
    fields: () => ({}),
    open: ({ rehearsal }) => rehearsal,
  },
};

export function createLanguageModels(options: LanguageModelsOptions) {
  const ownFetch = withLifeSigns(options.fetch ?? fetch);
  return ({ provider, id }: ModelRef, lesson: Lesson): LanguageModelV4 => {
    const { isSetUp, open } = PROVIDERS[provider];
    // A server of one's own wants no key: without its address nothing answers, and that is told.
    const mayAsk = isSetUp(options) || provider === 'compatible';
    return open(options, mayAsk ? withLesson(ownFetch, lesson) : refuseWithout(provider), id);
  };
}

const refuseWithout =
  (provider: ModelProvider): typeof fetch =>
  () =>
    Promise.reject(new LoadAPIKeyError({ message: `${keyNameOf(`${provider}:x`)} is not set.` }));

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
