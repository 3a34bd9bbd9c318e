import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type LanguageModelV4, LoadAPIKeyError } from '@ai-sdk/provider';
import { KEY_NAMES, type ModelRef } from '#lib/protocol/model-ref';
import { withReadableAnswers } from './answers/read-answers.ts';
import type { Lesson } from './lessons.ts';
import { withLesson } from './mended-fetch.ts';
import { withPastTools } from './past-tools.ts';
import { withLifeSigns } from './silence-watch.ts';
import { withCacheMarks } from './with-settings.ts';

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
