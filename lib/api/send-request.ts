import { isRecord } from '../json/is-record.ts';
import { readRetryAfter } from '../net/backoff.ts';
import type { ErrorDetail, ErrorParams } from '../protocol/http-error.ts';
import { SESSION_HEADER } from '../protocol/subprotocols.ts';
import type { ApiFailure, ApiResult } from './api-result.ts';

export interface ApiDeps {
  readonly fetch: PageFetch;
  /** Empty for the origin that served the page. */
  readonly baseUrl: string;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Called with each part of the answer's body. */
  readonly onReceived?: OnReceived;
}

/** How much of an answer has come, in bytes; `total` is null where the server did not send it. */
export interface Received {
  readonly received: number;
  readonly total: number | null;
}
export type OnReceived = (received: Received) => void;

/** A path or query with what stands in it for others, encoded. */
export const pathOf = (
  texts: TemplateStringsArray,
  ...values: readonly (string | number)[]
): string => String.raw(texts, ...values.map(encodeURIComponent));

/** It begins with its `?`, and is empty without a value. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/**
 * One request, its failure as a value. The answer of our own server is trusted
 * to have the contract's shape (this is the edge where it gets its type): the
 * server's tests hold it to its schemas, and checking again here would put
 * every schema into the first load.
 */
export async function sendRequest<T>(deps: ApiDeps, request: ApiRequest): Promise<ApiResult<T>> {
  let response: Response;
  let text: string;
  try {
    response = await deps.fetch(deps.baseUrl + request.path, toInit(request));
    // A line may break in the middle of an answer, too.
    text = await readText(response, request.onReceived);
  } catch (error) {
    return failure('unreachable', `The server could not be reached: ${String(error)}`, 0);
  }
  const body = parseBody(text);
  if (response.ok) return { ok: true, value: body as T };
  return toFailure(response, body);
}

function toInit(request: ApiRequest): RequestInit {
  const init: RequestInit = {
    method: request.method,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
  };
  if (request.body !== undefined) init.body = JSON.stringify(request.body);
  if (request.signal) init.signal = request.signal;
  return init;
}

async function readText(response: Response, onReceived?: OnReceived): Promise<string> {
  if (!onReceived || !response.body) return response.text();
  const total = bytesOf(response.headers);
  const decoder = new TextDecoder();
  let text = '';
  let received = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    received += value.length;
    onReceived({ received, total });
  }
}

/** The length of what is counted: that of compressed bytes is another one. */
function bytesOf(headers: Headers): number | null {
  const length = headers.get('content-length');
  return length === null || headers.has('content-encoding') ? null : Number(length);
}

/** Undefined for an empty body or one that is not JSON, e.g. a proxy's error page. */
function parseBody(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toFailure(response: Response, body: unknown): ApiFailure {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  const waitMs = readRetryAfter(response.headers.get('retry-after'));
  return {
    ok: false,
    code: typeof error.code === 'string' ? error.code : 'unexpected_answer',
    message:
      typeof error.message === 'string'
        ? error.message
        : `The server responded with ${response.status} and gave no reason.`,
    details: Array.isArray(error.details) ? error.details.filter(isDetail) : [],
    ...(isRecord(error.params) && { params: textsOf(error.params) }),
    status: response.status,
    retryAfter: waitMs === undefined ? null : waitMs / 1_000,
  };
}

const failure = (code: string, message: string, status: number): ApiFailure => ({
  ok: false,
  code,
  message,
  details: [],
  status,
  retryAfter: null,
});

const textsOf = (params: Readonly<Record<string, unknown>>): ErrorParams =>
  Object.fromEntries(
    Object.entries(params).filter((one): one is [string, string] => typeof one[1] === 'string'),
  );

const isDetail = (value: unknown): value is ErrorDetail =>
  isRecord(value) && typeof value.path === 'string' && typeof value.problem === 'string';

export type PageFetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * `fetch` with the key of the sign-in, which has to come with the cookie; only
 * to `origin`, whatever the address. The key is asked for anew each time, since
 * another tab may have signed in meanwhile.
 */
export const createSessionFetch =
  (deps: { fetch: PageFetch; origin: string; readKey: () => string | null }): PageFetch =>
  (url, init) => {
    const key = deps.readKey();
    const isOurs =
      URL.canParse(url, deps.origin) && new URL(url, deps.origin).origin === deps.origin;
    if (key === null || !isOurs) return deps.fetch(url, init);
    const headers = new Headers(init.headers);
    headers.set(SESSION_HEADER, key);
    return deps.fetch(url, { ...init, headers });
  };
