import { APICallError, LoadAPIKeyError, RetryError } from 'ai';
import { readJson } from '#lib/json/parse-json';
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

const MESSAGES = {
  no_api_key:
    '{model} needs an API key. Set {key} and restart the server, or choose the model "rehearsal", which needs none.',
  model_unauthenticated:
    'The provider of {model} refused the API key (HTTP {status}). Check {key} and restart the server.',
  model_quota:
    'The account for {model} has no quota left (HTTP 429). Check its billing, or choose another model.',
  model_rate_limited:
    'The provider of {model} limits requests (HTTP 429). Wait a moment and send again.',
  model_unreachable:
    'The provider of {model} cannot be reached ({detail}). Check OPENAI_BASE_URL and the network.',
  model_unavailable: 'The provider of {model} failed (HTTP {status}). Try again later. {detail}',
  model_not_found:
    'The provider does not know {model} (HTTP {status}). Choose another model. {detail}',
  model_refused_request: 'The provider of {model} refused the request (HTTP {status}). {detail}',
  model_no_api:
    'The server of {model} answered with a web page, so this is not the address of an API. Check OPENAI_BASE_URL (is /v1 missing at its end?) and whether the network asks to sign in.',
  model_unreadable:
    'The server of {model} answered in a form that is not understood. {detail} Send again, or choose another model.',
  model_silent: 'The model said nothing for {seconds} s. Try again or choose another model.',
  model_too_long: 'The answer took longer than {seconds} s. Try again or choose another model.',
  model_failed: '{model} failed: {detail} Try again or choose another model.',
  tools_not_supported:
    'The server of {model} does not accept tools for it. Set "tool_calling": "text" for "{model}" under "models" in the configuration file, then restart the server.',
  context_too_long:
    'The conversation is longer than {model} takes. Start a new run, or choose a model with a larger context.',
  stream_cut: 'The answer of {model} broke off. Send a message to go on.',
  endpoint_silent:
    'The model server {url} (OPENAI_BASE_URL) did not answer with its models: {detail} If it is off, start it, then send again. It is asked anew with each run.',
  endpoint_empty:
    'The model server {url} (OPENAI_BASE_URL) answers, but has no models. Load one there, then send again.',
  internal: 'The server failed: {detail}',
} as const satisfies Partial<Record<NoticeCode, string>>;

export const turnError = <Code extends keyof typeof MESSAGES>(
  code: Code,
  params: FactsOf<(typeof MESSAGES)[Code]>,
): TurnError => ({ code, message: fillText(MESSAGES[code], params), params });

/** A model that is waited for no longer; thrown by the loop into its own stream. */
export class WaitedLongError extends Error {
  override readonly name = 'WaitedLongError';
  readonly code: 'model_silent' | 'model_too_long';
  readonly seconds: number;

  constructor(code: WaitedLongError['code'], seconds: number) {
    super(fillText(MESSAGES[code], { seconds }));
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
  if (isUnknown) return turnError('model_not_found', params);
  if (status === 429) return turnError(limitIn(published), { model });
  if (status >= 500) return turnError('model_unavailable', params);
  // A stream whose response was fine and whose content was not.
  if (status < 300) return turnError('stream_cut', { model });
  return turnError('model_refused_request', params);
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

type NamedIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamedIn<Rest>
  : never;

/** The facts that a text has places for, such as `{model}`; pages may say more of them. */
export type FactsOf<Text extends string> = Record<NamedIn<Text>, string | number> & NoticeParams;

/** Once over the text: what stands in a fact is no place. */
const fillText = (text: string, facts: NoticeParams): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => String(facts[name]));

/** A turn says this of itself: a code with its facts for pages, English words for the rest. */
export interface Notice {
  readonly code: NoticeCode;
  readonly text: string;
  readonly params?: NoticeParams;
}

const TEXTS = {
  step_limit: 'The limit of {steps} steps ended this turn.',
  repeated_calls:
    'The model made the same call of {tool} {count} times with the same result; this ended the turn.',
  tool_timeouts:
    '{tool} timed out {count} times in a row; the turn was paused. Send a message to go on.',
  arguments_cut:
    'The model reached its output limit {count} times in a row while it wrote the arguments of {tool}; this ended the turn.',
  tool_failures:
    '{tool} failed {count} times in a row with the same error; the turn was paused. Send a message to go on.',
  budget_seconds: 'The limit of {limit} seconds ended this turn.',
  budget_calls: 'The limit of {limit} calls ended this turn.',
  budget_tokens: 'The limit of {limit} tokens ended this turn.',
  empty_answers: 'The model answered with nothing {count} times in a row; this ended the turn.',
  tools_left_out:
    '{offered} of {available} tools were offered to the model, which takes no more. A tool whose name is in the message is always among them.',
  calls_left_out:
    'The model made {count} more calls in one step than are recorded; they were not run. A step runs at most {limit} calls.',
  calls_as_text:
    'The model wrote a call of {tool} as text, so it did not run. Set "tool_calling": "text" for "{model}" under "models" in the configuration file, then restart the server.',
  history_left_out:
    '{model} was not sent the oldest part of this conversation, for which its context has no room: {count} messages.',
  images_refused: 'The provider of {model} refused a picture. The answer was made without it.',
  content_refused:
    'The provider of {model} refused parts of the request, which are not sent any more: {names}.',
} as const satisfies Partial<Record<NoticeCode, string>>;

export const notice = <Code extends keyof typeof TEXTS>(
  code: Code,
  params: FactsOf<(typeof TEXTS)[Code]>,
): Notice => ({ code, text: fillText(TEXTS[code], params), params });

export const ANSWER_CUT: Notice = {
  code: 'answer_cut',
  text: 'The model reached its output limit; the answer is cut.',
};

export const ANSWER_FILTERED: Notice = {
  code: 'answer_filtered',
  text: "The provider's filter ended the answer.",
};

export const stopped = (by: string | undefined): Notice => ({
  code: 'cancelled',
  ...(by === undefined ? { text: 'Stopped.' } : { text: `Stopped by ${by}.`, params: { by } }),
});

export const toolsUnfit = (
  model: string,
  { name, reason }: { readonly name: string; readonly reason: string },
  more: number,
): Notice => ({
  code: 'tools_unfit',
  text: `${model} is not offered the tool ${name}${more > 0 ? ` and ${more} more` : ''}, as its API takes no form of the schema: ${reason}.`,
  params: { model, tool: name, more, detail: reason },
});

export const failure = ({ code, message, params }: TurnError): Notice => ({
  code,
  text: message,
  ...(params === undefined ? {} : { params }),
});
