import { APICallError, LoadAPIKeyError, RetryError } from 'ai';
import { readJson } from '#lib/json/read-json';
import { keyNameOf } from '#lib/protocol/model-ref';
import type { NoticeCode } from '#lib/protocol/notice-codes';
import type { NoticeParams } from '#lib/protocol/run';
import { errorMessage } from '#lib/util/error-message';
import { reasonIn, UnreadableAnswerError } from './answers/fields.ts';
import { NoApiError } from './answers/read-answers.ts';

/** Why a turn failed, with what the person can do. */
export interface TurnError {
  readonly code: NoticeCode;
  readonly message: string;
  /** The facts in the message, for pages that say it in another language. */
  readonly params?: NoticeParams;
}

const WAITED_WORDS = {
  model_silent: 'The model said nothing for',
  model_too_long: 'The answer took longer than',
};

/** A model that is waited for no longer; thrown by the loop into its own stream. */
export class WaitedLongError extends Error {
  override readonly name = 'WaitedLongError';
  readonly code: keyof typeof WAITED_WORDS;
  readonly seconds: number;

  constructor(code: keyof typeof WAITED_WORDS, seconds: number) {
    super(`${WAITED_WORDS[code]} ${seconds} s.`);
    this.code = code;
    this.seconds = seconds;
  }
}

/** The stream ended without saying that it was finished. */
export class StreamCutError extends Error {
  override readonly name = 'StreamCutError';
}

const LONGEST_DETAIL = 300;

/** As providers say it: that there is too much of it, or how much of it there may be. */
export const CONTEXT_FULL =
  /context[_ ]?(?:length|window|size|overflow)|maximum (?:context|prompt)|too many tokens|(?:prompt|input|messages?|conversation) (?:is|are) too (?:long|large)|prompt too long|input (?:token count|length)|reduce (?:the (?:length|number)|your message)|maximum (?:number of|input|allowed) (?:input )?(?:tokens|length)|token limit|n_ctx|max_(?:model_len|seq_len|new_tokens)|max_tokens must be at least 1|(?:\bprompt|\binputs?(?! image)|(?<!max_(?:\w{1,12}_)?)tokens)\b[^:{}]{0,60}(?:exceed|(?:greater|less|longer) than|超)/i;

/** Words for what went wrong with a model. `model` is its reference. No key is ever repeated. */
export function describeModelError(error: unknown, model: string): TurnError {
  const cause = RetryError.isInstance(error) ? (error.lastError ?? error) : error;
  if (LoadAPIKeyError.isInstance(cause)) return noKey(model);
  if (cause instanceof WaitedLongError) {
    const { code, message, seconds } = cause;
    const words = `${message} Try again or choose another model.`;
    return { code, message: words, params: { model, seconds } };
  }
  if (cause instanceof StreamCutError) return cut(model);
  // The SDK wraps what its `fetch` throws while it reads.
  const [read] = [cause, cause instanceof Error ? cause.cause : undefined].filter(isOfReading);
  if (read instanceof NoApiError) return noApi(model);
  if (read) return unreadable(model, read.message);
  if (APICallError.isInstance(cause)) return describeApiError(cause, model);
  return describeOther(cause, model);
}

function describeApiError(error: APICallError, model: string): TurnError {
  const detail = detailOf(error);
  const status = error.statusCode ?? 0;
  const params = { model, status, detail };
  const published = `${errorMessage(error)} ${error.responseBody ?? ''}`;
  if (CONTEXT_FULL.test(published)) {
    return {
      code: 'context_too_long',
      message: `The conversation is longer than ${model} takes. Start a new run, or choose a model with a larger context.`,
      params: { model },
    };
  }
  // Google's answer to a key that is none is HTTP 400.
  if (/API_KEY_INVALID|API key not valid/.test(published)) return refusedKey(model, status);
  if (WITHOUT_TOOLS.test(published)) return withoutTools(model);
  switch (error.statusCode) {
    case undefined:
      return unreachable(model, error);
    case 401:
    case 403:
      return refusedKey(model, status);
    case 404:
    case 405:
      if (isWebPage(error)) return noApi(model);
      return {
        code: 'model_not_found',
        message: `The provider does not know ${model} (HTTP ${status}). Choose another model. ${detail}`,
        params,
      };
    case 429:
      return describeLimit(published, model);
  }
  if (error.statusCode >= 500) {
    return {
      code: 'model_unavailable',
      message: `The provider of ${model} failed (HTTP ${error.statusCode}). Try again later. ${detail}`,
      params,
    };
  }
  // A stream whose response was fine and whose content was not.
  if (error.statusCode < 300) return cut(model);
  return {
    code: 'model_refused_request',
    message: `The provider of ${model} refused the request (HTTP ${error.statusCode}). ${detail}`,
    params,
  };
}

function refusedKey(model: string, status: number): TurnError {
  const key = keyNameOf(model);
  return {
    code: 'model_unauthenticated',
    message: `The provider of ${model} refused the API key (HTTP ${status}). Check ${key} and restart the server.`,
    params: { model, status, key },
  };
}
/** As Ollama, OpenRouter, vLLM and llama.cpp say it. */
export const WITHOUT_TOOLS =
  /not support (?:tool|function)|support tool use|--enable-auto-tool-choice|tools param requires/i;

const withoutTools = (model: string): TurnError => ({
  code: 'tools_not_supported',
  message: `The server of ${model} does not accept tools for it. Set "tool_calling": "text" for "${model}" under "models" in the configuration file, then restart the server.`,
  params: { model },
});

const describeLimit = (published: string, model: string): TurnError =>
  /insufficient_quota|billing/i.test(published)
    ? {
        code: 'model_quota',
        message: `The account for ${model} has no quota left (HTTP 429). Check its billing, or choose another model.`,
        params: { model },
      }
    : {
        code: 'model_rate_limited',
        message: `The provider of ${model} limits requests (HTTP 429). Wait a moment and send again.`,
        params: { model },
      };

function describeOther(error: unknown, model: string): TurnError {
  const words = wordsOf(error);
  if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|fetch failed|Cannot connect/i.test(words)) {
    return unreachable(model, error);
  }
  if (
    /terminated|aborted|ECONNRESET|socket hang up|other side closed|premature|without a finish/i.test(
      words,
    )
  ) {
    return cut(model);
  }
  const detail = words.slice(0, LONGEST_DETAIL);
  return {
    code: 'model_failed',
    message: `${model} failed: ${detail} Try again or choose another model.`,
    params: { model, detail },
  };
}

function noKey(model: string): TurnError {
  const key = keyNameOf(model);
  return {
    code: 'no_api_key',
    message: `${model} needs an API key. Set ${key} and restart the server, or choose the model "rehearsal", which needs none.`,
    params: { model, key },
  };
}

const isOfReading = (error: unknown): error is NoApiError | UnreadableAnswerError =>
  error instanceof NoApiError || error instanceof UnreadableAnswerError;

const isWebPage = ({ responseBody = '' }: APICallError): boolean => /^\s*</.test(responseBody);

const noApi = (model: string): TurnError => ({
  code: 'model_no_api',
  message: `The server of ${model} answered with a web page, so this is not the address of an API. Check OPENAI_BASE_URL (is /v1 missing at its end?) and whether the network asks to sign in.`,
  params: { model },
});

const unreadable = (model: string, detail: string): TurnError => ({
  code: 'model_unreadable',
  message: `The server of ${model} answered in a form that is not understood. ${detail} Send again, or choose another model.`,
  params: { model, detail },
});

const cut = (model: string): TurnError => ({
  code: 'stream_cut',
  message: `The answer of ${model} broke off. Send a message to go on.`,
  params: { model },
});

function unreachable(model: string, error: unknown): TurnError {
  const detail = wordsOf(error).slice(0, LONGEST_DETAIL);
  return {
    code: 'model_unreachable',
    message: `The provider of ${model} cannot be reached (${detail}). Check OPENAI_BASE_URL and the network.`,
    params: { model, detail },
  };
}

/** What must not happen, and ends a turn all the same. */
export function internalError(error: unknown): TurnError {
  const detail = errorMessage(error);
  return { code: 'internal', message: `The server failed: ${detail}`, params: { detail } };
}

/** The SDK knows the body of OpenAI's errors alone, and else says the text of the status. */
const detailOf = (error: APICallError): string =>
  (reasonIn(readJson(error.responseBody ?? '')) ?? errorMessage(error))
    .replace(/sk-[\w*-]+/g, 'sk-…')
    .replace(/AIza[\w-]+/g, 'AIza…')
    .slice(0, LONGEST_DETAIL);

/** The words of an error and of its causes, without repeats. */
export function wordsOf(error: unknown): string {
  const words = new Set<string>();
  for (let one = error, depth = 0; one !== undefined && depth < 4; depth += 1) {
    words.add(errorMessage(one));
    if (one instanceof AggregateError)
      for (const inner of one.errors) words.add(errorMessage(inner));
    one = one instanceof Error ? one.cause : undefined;
  }
  return [...words].join(' ');
}
