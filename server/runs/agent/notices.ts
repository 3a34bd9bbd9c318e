import { APICallError, LoadAPIKeyError, RetryError } from 'ai';
import compileMessage from 'icu-minify/compile';
import formatMessage, { type FormatOptions } from 'icu-minify/format';
import { readJson } from '#lib/json/parse-json';
import { keyNameOf } from '#lib/protocol/model-ref';
import type { NoticeCode } from '#lib/protocol/notice-codes';
import type { NoticeParams } from '#lib/protocol/run';
import { errorMessage } from '#lib/util/error-message';
import { given } from '#lib/util/given';
import { notices as WORDS } from '../../../lib/i18n/messages/workbench/en.json';
import { reasonIn, UnreadableAnswerError } from './answers/fields.ts';
import { NoApiError } from './answers/read-answers.ts';

/** Why a turn failed, with what the person can do. */
export interface TurnError {
  readonly code: NoticeCode;
  readonly message: string;
  /** The facts in the message, for pages that say it in another language. */
  readonly params?: NoticeParams;
}

/** A turn says this of itself: a code with its facts for pages, English words for the rest. */
export interface Notice {
  readonly code: NoticeCode;
  readonly text: string;
  readonly params?: NoticeParams;
}

const INTL: FormatOptions = {
  formatters: {
    getDateTimeFormat: (...of) => new Intl.DateTimeFormat(...of),
    getNumberFormat: (...of) => new Intl.NumberFormat(...of),
    getPluralRules: (...of) => new Intl.PluralRules(...of),
  },
};

/** The words are those of the English page. `params` has at least the facts that these have places for. */
export function notice(code: NoticeCode, params?: NoticeParams): Notice {
  const text = String(formatMessage(compileMessage(WORDS[code]), 'en', params, INTL));
  return { code, text, ...given({ params }) };
}

export function turnError(code: NoticeCode, params?: NoticeParams): TurnError {
  return { code, message: notice(code, params).text, ...given({ params }) };
}

export const failure = ({ message: text, ...error }: TurnError): Notice => ({ ...error, text });

export const stopped = (by: string | undefined): Notice =>
  by === undefined
    ? notice('cancelled')
    : { code: 'cancelled', text: `Stopped by ${by}.`, params: { by } };

/** A model that is waited for no longer; thrown by the loop into its own stream. */
export class WaitedLongError extends Error {
  override readonly name = 'WaitedLongError';
  readonly code: 'model_silent' | 'model_too_long';
  readonly seconds: number;

  constructor(code: WaitedLongError['code'], seconds: number) {
    super(code);
    this.code = code;
    this.seconds = seconds;
  }
}

/** The stream ended without saying that it was finished. */
export class StreamCutError extends Error {
  override readonly name = 'StreamCutError';
}

const LONGEST_DETAIL = 300;

/** Providers say so that there is too much of it, or how much of it there may be. */
export const CONTEXT_FULL =
  /context[_ ]?(?:length|window|size|overflow)|maximum (?:context|prompt)|too many tokens|(?:prompt|input|messages?|conversation) (?:is|are) too (?:long|large)|prompt too long|input (?:token count|length)|reduce (?:the (?:length|number)|your message)|maximum (?:number of|input|allowed) (?:input )?(?:tokens|length)|token limit|n_ctx|max_(?:model_len|seq_len|new_tokens)|max_tokens must be at least 1|(?:\bprompt|\binputs?(?! image)|(?<!max_(?:\w{1,12}_)?)tokens)\b[^:{}]{0,60}(?:exceed|(?:greater|less|longer) than|超)/i;

/** Words for what went wrong with a model. `model` is its reference. No key is ever repeated. */
export function describeModelError(error: unknown, model: string): TurnError {
  const cause = RetryError.isInstance(error) ? (error.lastError ?? error) : error;
  if (LoadAPIKeyError.isInstance(cause)) {
    return turnError('no_api_key', { model, key: keyNameOf(model) });
  }
  if (cause instanceof WaitedLongError) {
    return turnError(cause.code, { model, seconds: cause.seconds });
  }
  if (cause instanceof StreamCutError) return turnError('stream_cut', { model });
  // The SDK wraps what its `fetch` throws while it reads.
  const [read] = [cause, cause instanceof Error ? cause.cause : undefined].filter(isOfReading);
  if (read instanceof NoApiError) return turnError('model_no_api', { model });
  if (read) return turnError('model_unreadable', { model, detail: shown(read.message) });
  if (APICallError.isInstance(cause)) return describeApiError(cause, model);
  return describeOther(cause, model);
}

function describeApiError(error: APICallError, model: string): TurnError {
  const status = error.statusCode ?? 0;
  const params = { model, status, detail: detailOf(error) };
  const published = `${errorMessage(error)} ${error.responseBody ?? ''}`;
  if (CONTEXT_FULL.test(published)) return turnError('context_too_long', { model });
  if (WITHOUT_TOOLS.test(published)) return turnError('tools_not_supported', { model });
  // Google's answer to a key that is none is HTTP 400.
  if (/API_KEY_INVALID|API key not valid/.test(published) || [401, 403].includes(status)) {
    return turnError('model_unauthenticated', { model, status, key: keyNameOf(model) });
  }
  if (error.statusCode === undefined) return unreachable(model, error);
  const isUnknown = status === 404 || status === 405;
  if (isUnknown && isWebPage(error)) return turnError('model_no_api', { model });
  if (isUnknown) return notKnown(model, status, params.detail);
  if (status === 429) return turnError(limitIn(published), { model });
  if (status >= 500) return turnError('model_unavailable', params);
  // A stream whose response was fine and whose content was not.
  if (status < 300) return turnError('stream_cut', { model });
  return turnError('model_refused_request', params);
}

/** The page has the code alone; for others the provider's words stand behind it. */
function notKnown(model: string, status: number, detail: string): TurnError {
  const { message, ...error } = turnError('model_not_found', { model, status, detail });
  return { ...error, message: `${message} (HTTP ${status}) ${detail}` };
}

const limitIn = (published: string) =>
  /insufficient_quota|billing/i.test(published) ? 'model_quota' : 'model_rate_limited';

/** Ollama, OpenRouter, vLLM and llama.cpp say it so. */
export const WITHOUT_TOOLS =
  /not support (?:tool|function)|support tool use|--enable-auto-tool-choice|tools param requires/i;

const OF_NETWORK = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|fetch failed|Cannot connect/i;
const OF_END =
  /terminated|aborted|ECONNRESET|socket hang up|other side closed|premature|without a finish/i;

function describeOther(error: unknown, model: string): TurnError {
  const words = wordsOf(error);
  if (OF_NETWORK.test(words)) return unreachable(model, error);
  if (OF_END.test(words)) return turnError('stream_cut', { model });
  return turnError('model_failed', { model, detail: words.slice(0, LONGEST_DETAIL) });
}

const isOfReading = (error: unknown): error is NoApiError | UnreadableAnswerError =>
  error instanceof NoApiError || error instanceof UnreadableAnswerError;

const isWebPage = ({ responseBody = '' }: APICallError): boolean => /^\s*</.test(responseBody);

const unreachable = (model: string, error: unknown): TurnError =>
  turnError('model_unreachable', { model, detail: wordsOf(error).slice(0, LONGEST_DETAIL) });

/** This must not happen, and ends a turn all the same. */
export const internalError = (error: unknown): TurnError =>
  turnError('internal', { detail: errorMessage(error) });

/** The SDK knows the body of OpenAI's errors alone, and else says the text of the status. */
const detailOf = (error: APICallError): string =>
  shown(reasonIn(readJson(error.responseBody ?? '')) ?? errorMessage(error));

const shown = (text: string): string =>
  text
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
