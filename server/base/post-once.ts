import { isRecord } from '#lib/json/is-record';
import { readRetryAfter } from '#lib/net/backoff';
import type { PushFailure } from '#lib/protocol/push';
import { given } from '#lib/util/given';

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
  /** Default: that of Node. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface Posted {
  /** The status of HTTP; null: there was no answer. */
  readonly status: number | null;
  /** Undefined: it was taken. */
  readonly failure?: PushFailure;
  /** The system names the failure by it, as `ECONNREFUSED`. */
  readonly code?: string;
  readonly retryAfterMs?: number;
}

/**
 * One POST (rule OB31); never rejects. No redirect is followed: it would lead where neither the
 * configuration nor the list of push services lets it, and take headers along that are for this
 * receiver alone. What the receiver answers is not read.
 */
export async function postOnce(request: PostRequest): Promise<Posted> {
  const { headers, body, now, longestRetryAfterMs: most, fetch = globalThis.fetch } = request;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(ATTEMPT_MS)]);
  const init = { method: 'POST', headers, body, signal, redirect: 'manual' } as const;
  try {
    const response = await fetch(String(request.url), init);
    // The connection is free again; that the receiver cut it first changes nothing.
    response.body?.cancel().catch(() => undefined);
    const { status } = response;
    const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), { now, most });
    return { status, ...given({ failure: failureOf(status), retryAfterMs }) };
  } catch (error) {
    if (signal.aborted) return { status: null, failure: 'timeout' };
    return { status: null, failure: 'unreachable', ...given({ code: codeOf(error) }) };
  }
}

function failureOf(status: number): PushFailure | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) return 'redirected';
  return status === 429 || status >= 500 ? 'busy' : 'refused';
}

/** The code of the error alone: its text may have the address. */
function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = isRecord(cause) ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined;
}
