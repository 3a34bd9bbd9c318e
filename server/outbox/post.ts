import { isRecord } from '#lib/json/is-record';
import { readRetryAfter } from '#lib/net/retry-after';
import type { Outcome } from './target.ts';

/** A receiver cannot put a delivery off for longer. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly now: number;
}

/**
 * One request, by which a target is reached; never rejects. No redirect is followed: it would lead
 * where the configuration does not. What the receiver answers is not read.
 */
export async function post({ url, headers, body, signal, now }: Post): Promise<Outcome> {
  let response: Response;
  try {
    response = await fetch(url, {
      ...{ method: 'POST', body, signal, redirect: 'manual' },
      headers: { 'content-type': 'application/json', 'user-agent': 'Callboard', ...headers },
    });
  } catch (error) {
    return { kind: 'failed', status: null, reason: signal.aborted ? TIMED_OUT : reasonOf(error) };
  }
  // The connection is free again; that the receiver cut it first changes nothing.
  response.body?.cancel().catch(() => undefined);
  const { status } = response;
  if (response.ok) return { kind: 'delivered', status };
  if (status === 410) return { kind: 'gone', status };
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), {
    now,
    most: LONGEST_RETRY_AFTER_MS,
  });
  const reason =
    status >= 300 && status < 400
      ? `HTTP ${status}: a redirect, which is not followed`
      : `HTTP ${status}`;
  return {
    ...{ kind: 'failed', status, reason },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

const TIMED_OUT = 'no answer in time';

/** The code of the error alone: its text may have the address. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = isRecord(cause) ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code)
    ? `no connection (${code})`
    : 'no connection';
}
