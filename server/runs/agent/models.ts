import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import {
  FIRST_OF_ENDPOINT,
  keyNameOf,
  type ModelProvider,
  type ModelRef,
  parseModelRef,
  REHEARSAL,
} from '#lib/protocol/model-ref';
import type { ModelListing, RunSettings } from '#lib/protocol/run';
import type { Clock } from '../../base/clock.ts';
import type { ResolvedModel } from './agent.ts';
import { MOST_TOOLS } from './choose-tools.ts';
import type { TurnError } from './describe-model-error.ts';
import { createEndpoint, type Discovery } from './endpoint.ts';
import {
  createLanguageModels,
  createProviders,
  type LanguageModelsOptions,
} from './language-models.ts';
import { type Lesson, NO_LESSON } from './lessons.ts';
import { type ModelFacts, takesImages } from './model-facts.ts';
import type { SchemaTarget } from './schema/schema-target.ts';
import { withTextCalls } from './text-calls/text-call-stream.ts';
import { TOOL_PROMPT } from './text-calls/tool-prompt.ts';

export interface Models {
  list(): ModelListing[];
  readonly defaultModel: string;
  /** Which model a reference names; without one, the default. Sends no request. */
  resolve(
    ref?: string,
  ): { readonly ok: true; readonly ref: string } | { readonly ok: false; readonly message: string };
  /**
   * The model that a turn asks. When that is the first of `OPENAI_BASE_URL`, which has not
   * answered, it is asked again, for two seconds at most (AL67, AL68).
   */
  open(ref: string): Promise<OpenedModel>;
  /** Asks `OPENAI_BASE_URL` which models it has; at once where there is nothing to ask. */
  discover(): Promise<Discovery>;
  /** The same unless it has answered. */
  refresh(): Promise<void>;
  /** Asks in the background until there is an answer, then names the default. Returns its own undo. */
  keepAsking(onAnswer: (defaultModel: string) => void): () => void;
  /** Why `OPENAI_BASE_URL` has no models, or what the configured default lacks; undefined when all is there. */
  readonly trouble: TurnError | undefined;
}

export type OpenedModel =
  | { readonly ok: true; readonly model: ResolvedModel }
  | { readonly ok: false; readonly error: TurnError };

/** What the configuration says of one model; what it does not say is assumed. */
export interface ModelSettings {
  /**
   * `text`: the tools are described in the prompt, and calls are read from the answer. Without it,
   * `native` unless its server says that it takes no tools.
   */
  readonly toolCalling?: 'native' | 'text' | undefined;
  /** Markdown in place of the description that there is, with `{{tools}}`; for `text` only. */
  readonly toolPrompt?: string | undefined;
  /** Whether it takes pictures; else as its server says, or its provider publishes. */
  readonly images?: boolean | undefined;
  /** False: it is asked for one call at a time. */
  readonly parallelCalls?: boolean | undefined;
  /** Tokens that a request and its answer may have together; else as its server says. */
  readonly contextTokens?: number | undefined;
  readonly maxTools?: number | undefined;
  /** Tools are sent in the strict form of OpenAI's API. */
  readonly strictTools?: boolean | undefined;
  /** Without a byte of its server it is given up; else ten minutes behind `OPENAI_BASE_URL`, two elsewhere. */
  readonly silenceSeconds?: number | undefined;
  /** For a whole answer; else half an hour. */
  readonly totalSeconds?: number | undefined;
  /** How it is asked, where the run does not say. */
  readonly asked?: RunSettings | undefined;
}

export interface ModelsOptions extends LanguageModelsOptions {
  /** `CALLBOARD_MODEL`; an id without a prefix belongs to whichever provider is set up. */
  readonly defaultModel: string | undefined;
  readonly clock: Clock;
  /** By reference. */
  readonly settings?: Readonly<Record<string, ModelSettings>>;
}

/** The models there are, by the configuration alone (rules AL60 to AL68). */
export function createModels(options: ModelsOptions): Models {
  const { openaiBaseUrl, settings } = options;
  const endpoint =
    openaiBaseUrl === undefined ? undefined : createEndpoint({ ...options, openaiBaseUrl });
  const providers = createProviders(options, endpoint);
  const configured = options.defaultModel
    ? toRef(options.defaultModel, providers.first)
    : undefined;
  const own = configured ? [configured] : [];
  const languageModel = createLanguageModels(options);
  const abilities = (ref: string): Abilities =>
    abilitiesOf(parseModelRef(ref), settings?.[ref], (id) => endpoint?.facts(id) ?? {});
  const realRefs = () => providers.list(configured !== undefined);
  const refs = (): string[] => [...new Set([...own, ...realRefs(), REHEARSAL])];
  const defaultModel = () => refs()[0] ?? REHEARSAL;

  const resolve: Models['resolve'] = (wanted = defaultModel()) => {
    if (wanted === FIRST_OF_ENDPOINT && endpoint) return { ok: true, ref: realRefs()[0] ?? wanted };
    const ref = findRef(wanted, refs());
    // The configured default is asked even without a key: its turn then says what is missing.
    if (ref !== undefined && (providers.isSetUp(ref) || ref === configured))
      return { ok: true, ref };
    return { ok: false, message: unknown(wanted, refs()) };
  };

  const refresh = async () => {
    if (endpoint && endpoint.ids.length === 0) await endpoint.ask();
  };

  return {
    get defaultModel() {
      return defaultModel();
    },
    get trouble() {
      return endpoint?.trouble ?? missingKey(configured, providers.isSetUp);
    },
    list: () =>
      refs().map((ref, at) =>
        toListing(ref, at === 0, abilities(ref), providers.isSetUp(ref), endpoint?.url),
      ),
    resolve,
    async open(wanted) {
      if (wanted === FIRST_OF_ENDPOINT) await refresh();
      const resolved = resolve(wanted);
      if (!resolved.ok) return { ok: false, error: closed(wanted, resolved.message) };
      const parsed = parseModelRef(resolved.ref);
      if (parsed?.provider === 'compatible') await endpoint?.learn(parsed.id);
      if (parsed)
        return {
          ok: true,
          model: toResolved(parsed, languageModel, abilities(parsed.text)),
        };
      return { ok: false, error: endpoint?.trouble ?? closed(wanted, unknown(wanted, refs())) };
    },
    discover: async () => endpoint?.ask() ?? { ok: true, ids: [] },
    refresh,
    keepAsking: (onAnswer) =>
      endpoint?.keepAsking(() => onAnswer(defaultModel())) ?? (() => undefined),
  };
}

/** The variable without which the configured default cannot answer. */
function missingKey(
  configured: string | undefined,
  isSetUp: (ref: string) => boolean,
): TurnError | undefined {
  if (configured === undefined || isSetUp(configured)) return undefined;
  const isCompatible = parseModelRef(configured)?.provider === 'compatible';
  const name = isCompatible ? 'OPENAI_BASE_URL' : keyNameOf(configured);
  return closed(configured, `It cannot answer: ${name} is not set.`);
}

const closed = (model: string, message: string): TurnError => ({
  code: 'model_not_found',
  message,
  params: { model },
});

const SCHEMA_TARGETS: Record<ModelProvider, SchemaTarget> = {
  openai: 'openai',
  'openai-chat': 'openai',
  // Which server and which model it is, nothing says.
  compatible: 'conservative',
  anthropic: 'anthropic',
  google: 'gemini',
  rehearsal: 'openai',
};

/** Whose APIs take pictures in a tool's result: of OpenAI's, the Responses API alone. */
const RESULT_IMAGES: ReadonlySet<ModelProvider> = new Set<ModelProvider>(['openai', 'anthropic']);

/** A server of one's own may have to load the model first. */
const LOADING_SECONDS = 600;
const SILENCE_SECONDS = 120;
const TOTAL_SECONDS = 1_800;

/** What a model can do: by the configuration, else by its server, else as its provider publishes. */
function abilitiesOf(
  ref: ModelRef | undefined,
  settings: ModelSettings = {},
  factsOf: (id: string) => ModelFacts,
) {
  const facts = ref?.provider === 'compatible' ? factsOf(ref.id) : {};
  const silence = ref?.provider === 'compatible' ? LOADING_SECONDS : SILENCE_SECONDS;
  return {
    toolCalling: settings.toolCalling ?? (facts.tools === false ? 'text' : 'native'),
    toolPrompt: settings.toolPrompt ?? TOOL_PROMPT,
    images: settings.images ?? facts.images ?? (ref !== undefined && isPublishedForImages(ref)),
    parallelCalls: settings.parallelCalls ?? true,
    /** Null: nothing says. */
    contextTokens: settings.contextTokens ?? facts.contextTokens ?? null,
    /** Null: as many as its API takes. */
    maxTools: settings.maxTools ?? null,
    strictTools: settings.strictTools ?? false,
    patience: {
      silentMs: 1_000 * (settings.silenceSeconds ?? silence),
      totalMs: 1_000 * (settings.totalSeconds ?? TOTAL_SECONDS),
    },
    asked: settings.asked ?? {},
  };
}

type Abilities = ReturnType<typeof abilitiesOf>;

/** Ids of the providers' own models say which they are; on another server the same id may be anything. */
const isPublishedForImages = ({ provider, id }: ModelRef): boolean =>
  provider !== 'compatible' && provider !== REHEARSAL && takesImages(id);

function toResolved(
  ref: ModelRef,
  languageModel: (ref: ModelRef, lesson: Lesson) => LanguageModelV4,
  abilities: Abilities,
): ResolvedModel {
  const { parallelCalls, contextTokens } = abilities;
  const isText = abilities.toolCalling === 'text';
  const taught = (lesson: Lesson) => {
    const model = languageModel(ref, lesson);
    return isText ? withTextCalls(model) : model;
  };
  // In text mode there is no result to put a picture into.
  const imageWay = RESULT_IMAGES.has(ref.provider) && !isText ? 'tool_result' : 'user_message';
  return {
    ref: ref.text,
    ...{ taught, languageModel: taught(NO_LESSON) },
    // Servers that speak OpenAI's API document its limit too, and proxies hold it.
    maxTools: abilities.maxTools ?? (ref.provider === REHEARSAL ? null : MOST_TOOLS),
    schemaTarget: abilities.strictTools ? 'openai-strict' : SCHEMA_TARGETS[ref.provider],
    imageWay: abilities.images ? imageWay : 'none',
    contextTokens,
    patience: abilities.patience,
    settings: abilities.asked,
    isCompatible: ref.provider === 'compatible',
    providerOptions: providerOptions(ref.provider, parallelCalls || isText),
    toolPrompt: isText ? abilities.toolPrompt : null,
  };
}

/** `isParallel`: it may ask for several calls at once. Gemini's API has no word for it. */
function providerOptions(provider: ModelProvider, isParallel: boolean): SharedV4ProviderOptions {
  const one = isParallel ? {} : { parallelToolCalls: false };
  switch (provider) {
    case 'openai':
      // Stored responses are sent as references, and ours come from our own record.
      return { openai: { store: false, ...one } };
    case 'openai-chat':
      return isParallel ? {} : { openai: one };
    case 'compatible':
      return isParallel ? {} : { compatible: { parallel_tool_calls: false } };
    case 'anthropic':
      return isParallel ? {} : { anthropic: { disableParallelToolUse: true } };
    default:
      return {};
  }
}

const PROVIDER_NAMES: Record<ModelProvider, string> = {
  openai: 'OpenAI',
  'openai-chat': 'OpenAI (chat)',
  compatible: 'OpenAI-compatible',
  anthropic: 'Anthropic',
  google: 'Google',
  rehearsal: 'Callboard',
};

function toListing(
  ref: string,
  isDefault: boolean,
  abilities: Abilities,
  isSetUp: boolean,
  endpointUrl = '',
): ModelListing {
  const parsed = parseModelRef(ref);
  const provider = parsed?.provider ?? 'compatible';
  const rehearsal = provider === 'rehearsal';
  const label = rehearsal ? 'Rehearsal, not an LLM' : (parsed?.id ?? endpointUrl);
  return {
    model: ref,
    label,
    provider: PROVIDER_NAMES[provider],
    rehearsal,
    images: abilities.images,
    default: isDefault,
    ...(abilities.toolCalling === 'text' ? { tool_calling: 'text' as const } : {}),
    ...(abilities.contextTokens === null ? {} : { context_tokens: abilities.contextTokens }),
    ...(isSetUp ? {} : { available: false }),
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
