import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type LanguageModelV4, LoadAPIKeyError } from '@ai-sdk/provider';
import type { ModelListing } from '#lib/protocol/run';
import type { Clock } from '../clock.ts';
import type { ResolvedModel } from './agent.ts';
import { MOST_TOOLS } from './choose-tools.ts';
import { type Discovery, listModelIds } from './list-model-ids.ts';
import { withNamedCalls } from './mend-tool-calls.ts';
import { type ModelProvider, type ModelRef, parseModelRef, REHEARSAL } from './model-ref.ts';
import { takesImages } from './takes-images.ts';

export interface Models {
  list(): ModelListing[];
  /** The model used when nobody names one. */
  readonly defaultModel: string;
  /** Without a reference, the default. */
  resolve(
    ref?: string,
  ):
    | { readonly ok: true; readonly model: ResolvedModel }
    | { readonly ok: false; readonly message: string };
  /** Asks `OPENAI_BASE_URL` which models it has, for two seconds at most. Told what came of it. */
  discover(): Promise<Discovery>;
}

export interface ModelsOptions {
  readonly openaiApiKey: string | undefined;
  readonly openaiBaseUrl: string | undefined;
  /** `CALLBOARD_MODEL`; an id without a prefix belongs to whichever provider is set up. */
  readonly defaultModel: string | undefined;
  readonly rehearsal: LanguageModelV4;
  readonly clock: Clock;
  readonly fetch?: typeof fetch;
}

/** Offered with a key; any other id works too when it is named. */
const OPENAI_IDS = ['gpt-5', 'gpt-5-mini', 'gpt-4.1', 'gpt-4o-mini'];
/** A proxy may list hundreds; a menu cannot. */
const MOST_DISCOVERED = 50;

/** The models there are, by the configuration alone (rules AL60 to AL66). */
export function createModels(options: ModelsOptions): Models {
  let discovered: string[] = [];
  const isSetUp = {
    openai: options.openaiApiKey !== undefined,
    base: options.openaiBaseUrl !== undefined,
  };
  const configured = options.defaultModel
    ? toRef(options.defaultModel, isSetUp.base ? 'compatible' : 'openai')
    : undefined;
  const languageModel = createLanguageModels(options);

  const available = (provider: ModelProvider): boolean => {
    if (provider === 'rehearsal') return true;
    return provider === 'compatible' ? isSetUp.base : isSetUp.openai || isSetUp.base;
  };

  const refs = (): string[] => {
    const real = isSetUp.base
      ? discovered.map((id) => `compatible:${id}`)
      : isSetUp.openai
        ? OPENAI_IDS.map((id) => `openai:${id}`)
        : [];
    return [...new Set([...(configured ? [configured] : []), ...real, REHEARSAL])];
  };

  const defaultModel = () => configured ?? refs()[0] ?? REHEARSAL;

  return {
    get defaultModel() {
      return defaultModel();
    },
    list: () => refs().map((ref) => toListing(ref, defaultModel())),
    resolve(wanted = defaultModel()) {
      const ref = findRef(wanted, refs());
      const parsed = ref === undefined ? undefined : parseModelRef(ref);
      // The configured default is asked even without a key: its turn then says what is missing.
      const usable = parsed && (available(parsed.provider) || ref === configured);
      if (!parsed || !usable) return { ok: false, message: unknown(wanted, refs()) };
      return { ok: true, model: toResolved(parsed, languageModel(parsed)) };
    },
    async discover() {
      if (options.openaiBaseUrl === undefined) return { ok: true, ids: [] };
      const found = await listModelIds({ ...options, openaiBaseUrl: options.openaiBaseUrl });
      if (found.ok) discovered = found.ids.slice(0, MOST_DISCOVERED);
      return found;
    },
  };
}

const OPENAI_URL = 'https://api.openai.com/v1';

const refuseWithoutKey = (): Promise<never> =>
  Promise.reject(new LoadAPIKeyError({ message: 'OPENAI_API_KEY is not set.' }));

function createLanguageModels(options: ModelsOptions) {
  const { openaiApiKey, openaiBaseUrl, rehearsal } = options;
  const fetchOption = { fetch: withNamedCalls(options.fetch ?? fetch) };
  const isNoKey = openaiApiKey === undefined && openaiBaseUrl === undefined;
  // All is given here, since the SDK reads the environment for what is not.
  const openai = createOpenAI({
    // Servers of one's own often want no key, and the SDK always wants one.
    apiKey: openaiApiKey ?? 'none',
    baseURL: openaiBaseUrl ?? OPENAI_URL,
    ...(isNoKey ? { fetch: refuseWithoutKey } : fetchOption),
  });
  const compatible = createOpenAICompatible({
    name: 'compatible',
    baseURL: openaiBaseUrl ?? 'http://127.0.0.1:9',
    ...(openaiApiKey === undefined ? {} : { apiKey: openaiApiKey }),
    ...fetchOption,
  });
  return ({ provider, id }: ModelRef): LanguageModelV4 => {
    switch (provider) {
      case 'openai':
        return openai.responses(id);
      case 'openai-chat':
        return openai.chat(id);
      case 'compatible':
        return compatible.chatModel(id);
      case 'rehearsal':
        return rehearsal;
    }
  };
}

function toResolved(ref: ModelRef, languageModel: LanguageModelV4): ResolvedModel {
  const images = takesImages(ref.id);
  return {
    ref: ref.text,
    languageModel,
    // Servers that speak OpenAI's API document its limit too, and proxies hold it.
    maxTools: ref.provider === REHEARSAL ? null : MOST_TOOLS,
    // Only the Responses API takes pictures in a tool's result.
    imageWay: !images ? 'none' : ref.provider === 'openai' ? 'tool_result' : 'user_message',
    // Stored responses are sent as references, and ours come from our own record.
    providerOptions: ref.provider === 'openai' ? { openai: { store: false } } : {},
  };
}

const PROVIDER_NAMES: Record<ModelProvider, string> = {
  openai: 'OpenAI',
  'openai-chat': 'OpenAI (chat)',
  compatible: 'OpenAI-compatible',
  rehearsal: 'Callboard',
};

function toListing(text: string, defaultModel: string): ModelListing {
  const { provider, id } = parseModelRef(text) ?? { provider: 'rehearsal', id: REHEARSAL };
  const rehearsal = provider === 'rehearsal';
  return {
    model: text,
    label: rehearsal ? 'Rehearsal, not an LLM' : id,
    provider: PROVIDER_NAMES[provider],
    rehearsal,
    images: takesImages(id),
    default: text === defaultModel,
  };
}

/** A reference as it is, or the listed one that ends in the id that was named. */
function findRef(wanted: string, refs: readonly string[]): string | undefined {
  if (parseModelRef(wanted)) return wanted;
  return refs.find((ref) => ref.slice(ref.indexOf(':') + 1) === wanted);
}

const toRef = (text: string, provider: ModelProvider): string =>
  parseModelRef(text) ? text : `${provider}:${text}`;

const unknown = (wanted: string, refs: readonly string[]): string =>
  `There is no model ${JSON.stringify(wanted.slice(0, 128))}. There are: ${refs.join(', ')}.`;
