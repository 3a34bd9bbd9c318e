import { isRecord } from '#lib/json/is-record';
import { readRetryAfter } from '#lib/net/backoff';
import { given } from '#lib/util/given';
import type { Outcome } from './target.ts';

/** An attempt may take so long, with all that belongs to it. */
export const ATTEMPT_MS = 15_000;

export interface PostRequest {
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
  readonly now: number;
  /** A receiver cannot put the next attempt off for longer. */
  readonly longestRetryAfterMs: number;
  /** Default: every address. */
  mayReach?(url: string): boolean;
  /** Default: that of Node. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export type Answered =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs?: number }
  /** `code`: of the system, as `ECONNREFUSED`. */
  | { readonly kind: 'unreachable'; readonly code: string | undefined }
  | { readonly kind: 'timeout' }
  /** It was not asked. */
  | { readonly kind: 'forbidden' };

/**
 * One POST (rule OB31); never rejects. No redirect is followed: it would lead where neither the
 * configuration nor `mayReach` lets it. What the receiver answers is not read.
 */
export async function postOnce(request: PostRequest): Promise<Answered> {
  const { headers, body, now, longestRetryAfterMs: most, fetch = globalThis.fetch } = request;
  const url = String(request.url);
  if (request.mayReach?.(url) === false) return { kind: 'forbidden' };
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(ATTEMPT_MS)]);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal,
      redirect: 'manual',
    });
    // The connection is free again; that the receiver cut it first changes nothing.
    response.body?.cancel().catch(() => undefined);
    const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), { now, most });
    return { kind: 'answered', status: response.status, ...given({ retryAfterMs }) };
  } catch (error) {
    return signal.aborted ? { kind: 'timeout' } : { kind: 'unreachable', code: codeOf(error) };
  }
}

export const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/** The code of the error alone: its text may have the address. */
function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = isRecord(cause) ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined;
}

const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** A notice to a target of the configuration, which may be anywhere; never rejects. */
export async function post({
  headers,
  ...request
}: Pick<PostRequest, 'url' | 'headers' | 'body' | 'signal' | 'now'>): Promise<Outcome> {
  const answered = await postOnce({
    ...request,
    headers: { 'content-type': 'application/json', 'user-agent': 'Callboard', ...headers },
    longestRetryAfterMs: LONGEST_RETRY_AFTER_MS,
  });
  if (answered.kind !== 'answered') {
    return { kind: 'failed', status: null, reason: reasonOf(answered) };
  }
  const { status, retryAfterMs } = answered;
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  if (status === 410) return { kind: 'gone', status, reason: 'HTTP 410: it wants no more' };
  const reason = isRedirect(status)
    ? `HTTP ${status}: a redirect, which is not followed`
    : `HTTP ${status}`;
  return { kind: 'failed', status, reason, ...given({ retryAfterMs }) };
}

type Unanswered = Exclude<Awaited<ReturnType<typeof postOnce>>, { kind: 'answered' }>;

function reasonOf(unanswered: Unanswered): string {
  if (unanswered.kind === 'timeout') return NO_ANSWER;
  if (unanswered.kind === 'forbidden') return 'an address that nothing is sent to';
  return unanswered.code === undefined ? 'no connection' : `no connection (${unanswered.code})`;
}

export const NO_ANSWER = 'no answer in time';
