import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type LanguageModelV4, LoadAPIKeyError } from '@ai-sdk/provider';
import { KEY_NAMES, type ModelRef } from '#lib/protocol/model-ref';
import { withReadableAnswers } from './answers/read-answers.ts';
import { withPastTools } from './past-tools.ts';

export interface LanguageModelsOptions {
  readonly openaiApiKey: string | undefined;
  readonly openaiBaseUrl: string | undefined;
  readonly anthropicApiKey?: string | undefined;
  readonly googleApiKey?: string | undefined;
  readonly rehearsal: LanguageModelV4;
  readonly fetch?: typeof fetch;
}

const OPENAI_URL = 'https://api.openai.com/v1';

const refuseWithout =
  (name: string): typeof fetch =>
  () =>
    Promise.reject(new LoadAPIKeyError({ message: `${name} is not set.` }));

/** All is given here, since the SDK reads the environment for what is not. */
export function createLanguageModels(options: LanguageModelsOptions) {
  const { openaiApiKey, openaiBaseUrl, anthropicApiKey, googleApiKey, rehearsal } = options;
  const ownFetch = options.fetch ?? fetch;
  const readable = withReadableAnswers(ownFetch);
  const isNoKey = openaiApiKey === undefined && openaiBaseUrl === undefined;
  const openai = createOpenAI({
    // Servers of one's own often want no key, and the SDK always wants one.
    apiKey: openaiApiKey ?? 'none',
    baseURL: openaiBaseUrl ?? OPENAI_URL,
    fetch: isNoKey ? refuseWithout(KEY_NAMES.openai) : readable,
  });
  const compatible = createOpenAICompatible({
    name: 'compatible',
    baseURL: openaiBaseUrl ?? 'http://127.0.0.1:9',
    // Sent as `stream_options`: without it a stream has no count of tokens.
    includeUsage: true,
    ...(openaiApiKey === undefined ? {} : { apiKey: openaiApiKey }),
    fetch: readable,
  });
  const anthropic = createAnthropic({
    apiKey: anthropicApiKey ?? 'none',
    baseURL: 'https://api.anthropic.com/v1',
    fetch: anthropicApiKey === undefined ? refuseWithout(KEY_NAMES.anthropic) : ownFetch,
  });
  const google = createGoogle({
    apiKey: googleApiKey ?? 'none',
    baseURL: 'https://generativelanguage.googleapis.com/v1beta',
    fetch: googleApiKey === undefined ? refuseWithout(KEY_NAMES.google) : ownFetch,
  });
  return ({ provider, id }: ModelRef): LanguageModelV4 => {
    switch (provider) {
      case 'openai':
        return openai.responses(id);
      case 'openai-chat':
        return openai.chat(id);
      case 'compatible':
        return compatible.chatModel(id);
      case 'anthropic':
        return withPastTools(anthropic.languageModel(id));
      case 'google':
        return google.languageModel(id);
      case 'rehearsal':
        return rehearsal;
    }
  };
}
