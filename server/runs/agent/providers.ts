import { FIRST_OF_ENDPOINT, type ModelProvider, REHEARSAL } from '#lib/protocol/model-ref';
import type { Endpoint } from './endpoint.ts';
import type { LanguageModelsOptions } from './language-models.ts';

/** Which providers of models are set up, and what they list. */
export interface Providers {
  /** To which an id without a prefix belongs. */
  readonly first: ModelProvider;
  isSetUp(provider: ModelProvider): boolean;
  /** The models to choose from, as references. `isConfigured`: there is a default besides. */
  list(isConfigured: boolean): string[];
}

/** Offered with a key; any other id works too when it is named. */
const OPENAI_IDS = ['gpt-5', 'gpt-5-mini', 'gpt-4.1', 'gpt-4o-mini'];
const ANTHROPIC_IDS = ['claude-sonnet-5-5', 'claude-opus-5-5', 'claude-haiku-5-5'];
const GOOGLE_IDS = ['gemini-3.8-flash', 'gemini-2.5-pro', 'gemini-2.5-flash'];

type Keys = Pick<LanguageModelsOptions, 'openaiApiKey' | 'anthropicApiKey' | 'googleApiKey'>;

export function createProviders(keys: Keys, endpoint: Endpoint | undefined): Providers {
  const keyed = keyedProviders(keys);

  const ofEndpoint = (isConfigured: boolean): string[] => {
    if (!endpoint) return [];
    if (endpoint.ids.length > 0) return endpoint.ids.map((id) => `compatible:${id}`);
    // What is configured is never replaced by the rehearsal without a word.
    return isConfigured ? [] : [FIRST_OF_ENDPOINT];
  };

  return {
    first: endpoint ? 'compatible' : (keyed[0]?.provider ?? 'openai'),
    isSetUp(provider) {
      if (provider === REHEARSAL) return true;
      const owner = provider === 'openai-chat' ? 'openai' : provider;
      if (endpoint && (owner === 'openai' || owner === 'compatible')) return true;
      return keyed.some((one) => one.provider === owner);
    },
    list: (isConfigured) => [
      ...ofEndpoint(isConfigured),
      ...keyed
        // With a base URL, OpenAI's key is the key of the server there.
        .filter(({ provider }) => !(endpoint && provider === 'openai'))
        .flatMap(({ provider, ids }) => ids.map((id) => `${provider}:${id}`)),
    ],
  };
}

/** Those whose keys are set, in the order in which they are listed. */
const keyedProviders = ({ openaiApiKey, anthropicApiKey, googleApiKey }: Keys) =>
  [
    { provider: 'openai' as const, key: openaiApiKey, ids: OPENAI_IDS },
    { provider: 'anthropic' as const, key: anthropicApiKey, ids: ANTHROPIC_IDS },
    { provider: 'google' as const, key: googleApiKey, ids: GOOGLE_IDS },
  ].filter(({ key }) => key !== undefined);
