import { given } from '#lib/util/given';
import { isRedirect, type PostRequest, postOnce } from './post-once.ts';
import type { Outcome } from './target.ts';

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
