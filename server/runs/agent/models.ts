import {
  FIRST_OF_ENDPOINT,
  keyNameOf,
  type ModelRef,
  parseModelRef,
  REHEARSAL,
} from '#lib/protocol/model-ref';
import type { ModelListing } from '#lib/protocol/run';
import type { Clock } from '../../base/clock.ts';
import type { ResolvedModel } from './agent.ts';
import { type Discovery, Endpoint } from './endpoint.ts';
import { createLanguageModels, type LanguageModelsOptions, PROVIDERS } from './language-models.ts';
import type { Lesson } from './lessons.ts';
import { type ModelSettings, takesImages } from './model-facts.ts';
import type { TurnError } from './notices.ts';
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

/** In the order in which the first that is set up has the default. */
const WITH_KEYS = ['openai', 'anthropic', 'google'] as const;

/** The models there are, by the configuration alone (rules AL60 to AL68). */
export class Models {
  readonly #options: ModelsOptions;
  readonly #endpoint: Endpoint | undefined;
  readonly #languageModel: ReturnType<typeof createLanguageModels>;
  /** Those of them that are set up. */
  readonly #keyed: readonly (typeof WITH_KEYS)[number][];
  /** The default of the configuration. */
  readonly #configured: string | undefined;

  constructor(options: ModelsOptions) {
    const { openaiBaseUrl, defaultModel } = options;
    this.#options = options;
    if (openaiBaseUrl !== undefined) this.#endpoint = new Endpoint({ ...options, openaiBaseUrl });
    this.#languageModel = createLanguageModels(options);
    this.#keyed = WITH_KEYS.filter(
      // OpenAI's key is the key of the server behind a base URL.
      (name) => PROVIDERS[name].isSetUp(options) && !(this.#endpoint && name === 'openai'),
    );
    const first = this.#endpoint ? 'compatible' : (this.#keyed[0] ?? 'openai');
    if (defaultModel)
      this.#configured = parseModelRef(defaultModel) ? defaultModel : `${first}:${defaultModel}`;
  }

  get defaultModel(): string {
    return this.#refs()[0] ?? REHEARSAL;
  }

  /** Why `OPENAI_BASE_URL` has no models, or what the configured default lacks; undefined when all is there. */
  get trouble(): TurnError | undefined {
    const { trouble } = this.#endpoint ?? {};
    if (trouble || this.#configured === undefined || this.#isSetUp(this.#configured))
      return trouble;
    const isCompatible = parseModelRef(this.#configured)?.provider === 'compatible';
    const name = isCompatible ? 'OPENAI_BASE_URL' : keyNameOf(this.#configured);
    return closed(this.#configured, `It cannot answer: ${name} is not set.`);
  }

  list(): ModelListing[] {
    return this.#refs().map((ref, at) => this.#listing(ref, at === 0));
  }

  /** Which model a reference names; without one, the default. Sends no request. */
  resolve(wanted = this.defaultModel): Resolved {
    if (wanted === FIRST_OF_ENDPOINT && this.#endpoint) {
      return { ok: true, ref: this.#realRefs()[0] ?? wanted };
    }
    // A reference as it is, or the listed one that ends in the id that was named.
    const isMeant = (ref: string) => ref.slice(ref.indexOf(':') + 1) === wanted;
    const ref = parseModelRef(wanted) ? wanted : this.#refs().find(isMeant);
    // The configured default is asked even without a key: its turn then says what is missing.
    if (ref !== undefined && (this.#isSetUp(ref) || ref === this.#configured)) {
      return { ok: true, ref };
    }
    return { ok: false, message: this.#unknown(wanted) };
  }

  /**
   * The model that a turn asks. When that is the first of `OPENAI_BASE_URL`, which has not
   * answered, it is asked again, for two seconds at most (AL67, AL68).
   */
  async open(wanted: string): Promise<OpenedModel> {
    if (wanted === FIRST_OF_ENDPOINT) await this.refresh();
    const resolved = this.resolve(wanted);
    if (!resolved.ok) return { ok: false, error: closed(wanted, resolved.message) };
    const ref = parseModelRef(resolved.ref);
    if (ref?.provider === 'compatible') await this.#endpoint?.learn(ref.id);
    if (ref) return { ok: true, model: this.#resolved(ref) };
    const error = this.#endpoint?.trouble ?? closed(wanted, this.#unknown(wanted));
    return { ok: false, error };
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

  #isSetUp(ref: string): boolean {
    const parsed = parseModelRef(ref);
    return parsed !== undefined && PROVIDERS[parsed.provider].isSetUp(this.#options);
  }

  /** Tells what a model can do by the configuration, else by its server, else as its provider publishes. */
  #abilities(ref: ModelRef | undefined) {
    const settings = this.#options.settings?.[ref?.text ?? FIRST_OF_ENDPOINT] ?? {};
    const isCompatible = ref?.provider === 'compatible';
    const facts = (isCompatible && this.#endpoint?.facts(ref.id)) || {};
    // Ids of the providers' own models say which they are; on another server the same id may be anything.
    const isOwn = ref !== undefined && !isCompatible && ref.provider !== REHEARSAL;
    return {
      settings,
      isText: (settings.tool_calling ?? (facts.tools === false ? 'text' : 'native')) === 'text',
      images: settings.images ?? facts.images ?? (isOwn && takesImages(ref.id)),
      /** Null: nothing says. */
      contextTokens: settings.context_tokens ?? facts.contextTokens ?? null,
    };
  }

  #resolved(ref: ModelRef): ResolvedModel {
    const { settings, isText, images, contextTokens } = this.#abilities(ref);
    const { schemaTarget, hasResultImages, fields } = PROVIDERS[ref.provider];
    const isCompatible = ref.provider === 'compatible';
    const silence = isCompatible ? LOADING_SECONDS : SILENCE_SECONDS;
    // In text mode there is no result to put a picture into.
    const imageWay = hasResultImages && !isText ? 'tool_result' : 'user_message';
    const isParallel = (settings.parallel_calls ?? true) || isText;
    return {
      ref: ref.text,
      taught: (lesson: Lesson) => {
        const model = this.#languageModel(ref, lesson);
        return isText ? withTextCalls(model) : model;
      },
      // Servers that speak OpenAI's API document its limit too, and proxies hold it.
      maxTools: settings.max_tools ?? (ref.provider === REHEARSAL ? null : MOST_TOOLS),
      schemaTarget: settings.strict_tools ? 'openai-strict' : schemaTarget,
      imageWay: images ? imageWay : 'none',
      contextTokens,
      patience: {
        silentMs: 1_000 * (settings.silence_seconds ?? silence),
        totalMs: 1_000 * (settings.total_seconds ?? TOTAL_SECONDS),
      },
      settings,
      isCompatible,
      providerOptions: fields(isParallel ? undefined : false),
      toolPrompt: isText ? (settings.tool_prompt ?? TOOL_PROMPT) : null,
    };
  }

  #listing(ref: string, isDefault: boolean): ModelListing {
    const parsed = parseModelRef(ref);
    const { isText, images, contextTokens } = this.#abilities(parsed);
    const provider = parsed?.provider ?? 'compatible';
    const rehearsal = provider === REHEARSAL;
    const label = rehearsal ? 'Rehearsal, not an LLM' : (parsed?.id ?? this.#endpoint?.url ?? '');
    return {
      model: ref,
      label,
      provider: PROVIDERS[provider].name,
      rehearsal,
      images,
      default: isDefault,
      ...(isText && { tool_calling: 'text' as const }),
      ...(contextTokens !== null && { context_tokens: contextTokens }),
      ...(!this.#isSetUp(ref) && { available: false }),
    };
  }

  #realRefs(): string[] {
    const ids = this.#endpoint?.ids ?? [];
    const ofEndpoint = ids.map((id) => `compatible:${id}`);
    // The rehearsal never replaces what is configured without a word.
    if (this.#endpoint && ids.length === 0 && this.#configured === undefined)
      ofEndpoint.push(FIRST_OF_ENDPOINT);
    const ofKeys = this.#keyed.flatMap((name) => PROVIDERS[name].ids.map((id) => `${name}:${id}`));
    return [...ofEndpoint, ...ofKeys];
  }

  #refs(): string[] {
    const own = this.#configured === undefined ? [] : [this.#configured];
    return [...new Set([...own, ...this.#realRefs(), REHEARSAL])];
  }

  #unknown(wanted: string): string {
    return `There is no model ${JSON.stringify(wanted.slice(0, 128))}. There are: ${this.#refs().join(', ')}.`;
  }
}

const closed = (model: string, message: string): TurnError => ({
  code: 'model_not_found',
  message,
  params: { model },
});

/** A server of one's own may have to load the model first. */
const LOADING_SECONDS = 600;
const SILENCE_SECONDS = 120;
const TOTAL_SECONDS = 1_800;
