import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import {
  FIRST_OF_ENDPOINT,
  keyNameOf,
  type ModelProvider,
  type ModelRef,
  parseModelRef,
  REHEARSAL,
} from '#lib/protocol/model-ref';
import type { ModelListing } from '#lib/protocol/run';
import { given } from '#lib/util/given';
import type { Clock } from '../../base/clock.ts';
import type { ResolvedModel } from './agent.ts';
import { type Discovery, Endpoint } from './endpoint.ts';
import {
  createLanguageModels,
  createProviders,
  type LanguageModelsOptions,
} from './language-models.ts';
import { type Lesson, NO_LESSON } from './lessons.ts';
import { type ModelFacts, type ModelSettings, takesImages } from './model-facts.ts';
import type { TurnError } from './notices.ts';
import type { SchemaTarget } from './schema-targets.ts';
import { withTextCalls } from './text-calls/text-call-stream.ts';
import { TOOL_PROMPT } from './text-calls/text-history.ts';
import { MOST_TOOLS } from './tools.ts';
export type OpenedModel =
  | { readonly ok: true; readonly model: ResolvedModel }
  | { readonly ok: false; readonly error: TurnError };

export interface ModelsOptions extends LanguageModelsOptions {
  /** `CALLBOARD_MODEL`; an id without a prefix belongs to whichever provider is set up. */
  readonly defaultModel: string | undefined;
  readonly clock: Clock;
  /** By reference. */
  readonly settings?: Readonly<Record<string, ModelSettings>>;
}

type Resolved =
  | { readonly ok: true; readonly ref: string }
  | { readonly ok: false; readonly message: string };

/** The models there are, by the configuration alone (rules AL60 to AL68). */
export class Models {
  readonly #settings: ModelsOptions['settings'];
  readonly #endpoint: Endpoint | undefined;
  readonly #providers: ReturnType<typeof createProviders>;
  readonly #languageModel: ReturnType<typeof createLanguageModels>;
  /** The default of the configuration. */
  readonly #configured: string | undefined;

  constructor(options: ModelsOptions) {
    const { openaiBaseUrl, defaultModel, settings } = options;
    this.#settings = settings;
    if (openaiBaseUrl !== undefined) this.#endpoint = new Endpoint({ ...options, openaiBaseUrl });
    this.#providers = createProviders(options, this.#endpoint);
    this.#languageModel = createLanguageModels(options);
    if (defaultModel) this.#configured = toRef(defaultModel, this.#providers.first);
  }

  get defaultModel(): string {
    return this.#refs()[0] ?? REHEARSAL;
  }

  /** Why `OPENAI_BASE_URL` has no models, or what the configured default lacks; undefined when all is there. */
  get trouble(): TurnError | undefined {
    return this.#endpoint?.trouble ?? missingKey(this.#configured, this.#providers.isSetUp);
  }

  list(): ModelListing[] {
    const { isSetUp } = this.#providers;
    return this.#refs().map((ref, at) =>
      toListing(ref, at === 0, this.#abilities(ref), isSetUp(ref), this.#endpoint?.url),
    );
  }

  /** Which model a reference names; without one, the default. Sends no request. */
  resolve(wanted = this.defaultModel): Resolved {
    if (wanted === FIRST_OF_ENDPOINT && this.#endpoint) {
      return { ok: true, ref: this.#realRefs()[0] ?? wanted };
    }
    const ref = findRef(wanted, this.#refs());
    // The configured default is asked even without a key: its turn then says what is missing.
    if (ref !== undefined && (this.#providers.isSetUp(ref) || ref === this.#configured)) {
      return { ok: true, ref };
    }
    return { ok: false, message: unknown(wanted, this.#refs()) };
  }

  /**
   * The model that a turn asks. When that is the first of `OPENAI_BASE_URL`, which has not
   * answered, it is asked again, for two seconds at most (AL67, AL68).
   */
  async open(wanted: string): Promise<OpenedModel> {
    if (wanted === FIRST_OF_ENDPOINT) await this.refresh();
    const resolved = this.resolve(wanted);
    if (!resolved.ok) return { ok: false, error: closed(wanted, resolved.message) };
    const parsed = parseModelRef(resolved.ref);
    if (parsed?.provider === 'compatible') await this.#endpoint?.learn(parsed.id);
    if (parsed) {
      const model = toResolved(parsed, this.#languageModel, this.#abilities(parsed.text));
      return { ok: true, model };
    }
    const why = () => closed(wanted, unknown(wanted, this.#refs()));
    return { ok: false, error: this.#endpoint?.trouble ?? why() };
  }

  /** Asks `OPENAI_BASE_URL` which models it has; at once where there is nothing to ask. */
  async discover(): Promise<Discovery> {
    return this.#endpoint?.ask() ?? { ok: true, ids: [] };
  }

  /** The same unless it has answered. */
  async refresh(): Promise<void> {
    if (this.#endpoint?.ids.length === 0) await this.#endpoint.ask();
  }

  /** Asks in the background until there is an answer, then names the default. Returns its own undo. */
  keepAsking(onAnswer: (defaultModel: string) => void): () => void {
    return this.#endpoint?.keepAsking(() => onAnswer(this.defaultModel)) ?? (() => undefined);
  }

  #abilities(ref: string): Abilities {
    const factsOf = (id: string) => this.#endpoint?.facts(id) ?? {};
    return abilitiesOf(parseModelRef(ref), this.#settings?.[ref], factsOf);
  }

  #realRefs(): string[] {
    return this.#providers.list(this.#configured !== undefined);
  }

  #refs(): string[] {
    const own = this.#configured === undefined ? [] : [this.#configured];
    return [...new Set([...own, ...this.#realRefs(), REHEARSAL])];
  }
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

/** Tells what a model can do by the configuration, else by its server, else as its provider publishes. */
function abilitiesOf(
  ref: ModelRef | undefined,
  settings: ModelSettings = {},
  factsOf: (id: string) => ModelFacts,
) {
  const facts = ref?.provider === 'compatible' ? factsOf(ref.id) : {};
  const { instructions, temperature, reasoning_effort } = settings;
  const silence = ref?.provider === 'compatible' ? LOADING_SECONDS : SILENCE_SECONDS;
  return {
    toolCalling: settings.tool_calling ?? (facts.tools === false ? 'text' : 'native'),
    toolPrompt: settings.tool_prompt ?? TOOL_PROMPT,
    images: settings.images ?? facts.images ?? (ref !== undefined && isPublishedForImages(ref)),
    parallelCalls: settings.parallel_calls ?? true,
    /** Null: nothing says. */
    contextTokens: settings.context_tokens ?? facts.contextTokens ?? null,
    /** Null: as many as its API takes. */
    maxTools: settings.max_tools ?? null,
    strictTools: settings.strict_tools ?? false,
    patience: {
      silentMs: 1_000 * (settings.silence_seconds ?? silence),
      totalMs: 1_000 * (settings.total_seconds ?? TOTAL_SECONDS),
    },
    /** How it is asked, where the run does not say. */
    asked: given({ instructions, temperature, reasoning_effort }),
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
    taught,
    languageModel: taught(NO_LESSON),
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
