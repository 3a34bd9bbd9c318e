import { isRecord } from '../../json/is-record.ts';
import type { Fetch } from '../../net/stream-socket.ts';

/** What the server answered to a page that asks to be let in. */
export interface Answer {
  /** Of HTTP; 0 where there was no answer that the page may read. */
  readonly status: number;
  /** Of the outcome. */
  readonly state?: unknown;
  /** The server's words on a refusal. */
  readonly message?: unknown;
  /** Seconds until the same request may succeed; undefined where it cannot. */
  readonly retryAfter?: number | undefined;
}

/** Rejects only when the signal ends it. */
export type AskServer = (
  path: 'join' | 'outcome',
  body: object,
  signal?: AbortSignal,
) => Promise<Answer>;

/** `/api/pairing/*` of a server, from a page of another origin. */
export const createAskServer =
  (fetch: Fetch, server: string): AskServer =>
  async (path, body, signal) => {
    try {
      const response = await fetch(`${server}/api/pairing/${path}`, {
        method: 'POST',
        credentials: 'omit',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: signal ?? null,
      });
      const { status, headers } = response;
      const answer: unknown = await response.json();
      const { state, error } = isRecord(answer) ? answer : {};
      const mayRetry = status === 429 || status > 499;
      return {
        status,
        state,
        message: isRecord(error) ? error.message : status,
        retryAfter: mayRetry ? Number(headers.get('retry-after')) : undefined,
      };
    } catch {
      signal?.throwIfAborted();
      return { status: 0, retryAfter: 0 };
    }
  };
