import { isRecord } from '../../json/is-record.ts';
import { reconnectDelay } from '../../net/backoff.ts';
import type { Fetch } from '../../net/stream-socket.ts';
import type { JoinBody } from '../../protocol/device.ts';
import { toHex } from '../../util/random-id.ts';
import { isDeviceToken, newDeviceToken } from '../client-identity.ts';

/** The server's answer to a page that asks to be let in. */
export interface Answer {
  /** The status of HTTP; 0 where there was no answer that the page may read. */
  readonly status: number;
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
        // Servers of ours write seconds. What a proxy writes as a date is no number.
        retryAfter: mayRetry ? Number(headers.get('retry-after')) || 0 : undefined,
      };
    } catch {
      signal?.throwIfAborted();
      return { status: 0, retryAfter: 0 };
    }
  };

/** The token of this page's own, as all pages of its origin have it. */
export interface KeptToken {
  get(): string | null;
  set(token: string): void;
  remove(): void;
}

export interface LetInOptions {
  readonly askServer: AskServer;
  readonly kept: KeptToken;
  /** The one that the page had until now. */
  readonly token: string | undefined;
  /** `has` is true once this page has asked a person since it was loaded or touched. */
  readonly asked: { has: boolean };
  readonly signal: AbortSignal;
  /** Gives what the page asks for, once its own scripts have run. */
  request(): Promise<Pick<JoinBody, 'name' | 'tools'>>;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Until a person touches the page. */
  touched(signal: AbortSignal): Promise<void>;
  onStatus(status: 'asking' | 'refused'): void;
  /** There was no answer that the page may read. */
  onUnreachable(): Promise<void>;
  warn(text: string): void;
}

/** The server holds a request so long. */
const HOLD_MS = 25_000;
const BETWEEN_MS = 1_000;
/** A refusal that lasts longer is not waited for. */
const MOST_WAIT_S = 60;

/**
 * Asks the operator of a server to let this page in, as a device with a token of its own, and gives
 * that token once it counts. Undefined: the page is refused. Rules: PG20 to PG26.
 */
export async function letIn(options: LetInOptions): Promise<string | undefined> {
  const { askServer, kept, asked, signal } = options;
  let mine = options.token;
  let failures = 0;
  let wait_ms = 0;
  let why = 'unknown';

  const join = async (): Promise<Answer> => {
    const request = await options.request();
    signal.throwIfAborted();
    // Another page of this origin may have begun meanwhile.
    if (read(kept)) return WAITING;
    mine = newDeviceToken();
    // First: a page that is left before the answer comes would not find its own request again.
    kept.set(mine);
    const token_hash = await hashOf(mine);
    const answer = await askServer('join', { ...request, token_hash, kind: 'tab' });
    if (answer.status === 200) asked.has = true;
    else if (answer.status !== 0) forget();
    return answer.status === 200 ? WAITING : answer;
  };
  const forget = () => {
    if (kept.get() === mine) kept.remove();
    mine = undefined;
  };

  const ask = async (): Promise<Answer> => {
    mine ??= read(kept);
    if (mine) return askServer('outcome', { token: mine, wait_ms }, signal);
    if (!asked.has) return join();
    await untilTouched(options, why);
    return ask();
  };
  /** Two pages that began at once have made two tokens: the one that the server knows stays. */
  const keep = () => {
    if (mine) kept.set(mine);
  };
  const stillAsking = async () => {
    keep();
    options.onStatus('asking');
    if (wait_ms > 0) await options.wait(BETWEEN_MS, signal);
    wait_ms = HOLD_MS;
  };

  for (;;) {
    const answer = await ask();
    signal.throwIfAborted();
    if (answer.status !== 200) {
      if (!(await canRetry(options, answer, failures))) return undefined;
      failures += 1;
      continue;
    }
    failures = 0;
    const { state } = answer;
    if (state === 'denied') return refuse(options, 'a person refused it.');
    if (state === 'approved') {
      keep();
      return mine;
    }
    if (state === 'waiting') {
      await stillAsking();
      continue;
    }
    forget();
    why = String(state);
    if (state === 'revoked') asked.has = true;
  }
}

const WAITING: Answer = { status: 200, state: 'waiting' };

/** The pages that a server lets ask have a secure context (DV20). */
async function hashOf(token: string): Promise<string> {
  if (!crypto.subtle) throw new Error('without a token it needs https');
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
  return toHex(new Uint8Array(hash));
}

function read(kept: KeptToken): string | undefined {
  const token = kept.get();
  return token !== null && isDeviceToken(token) ? token : undefined;
}

function refuse({ onStatus, warn }: LetInOptions, text: string): undefined {
  onStatus('refused');
  warn(`this page is not let in: ${text}`);
}

async function untilTouched(options: LetInOptions, why: string): Promise<void> {
  refuse(options, `it is ${why}. It asks again when touched or loaded anew.`);
  await options.touched(options.signal);
  options.signal.throwIfAborted();
  options.asked.has = false;
}

async function canRetry(
  options: LetInOptions,
  { status, message, retryAfter }: Answer,
  failures: number,
): Promise<boolean> {
  if (retryAfter === undefined || retryAfter > MOST_WAIT_S) {
    refuse(options, String(message));
    return false;
  }
  if (status === 0) await options.onUnreachable();
  const delay = reconnectDelay(failures, Math.random());
  await options.wait(Math.max(retryAfter * 1_000, delay), options.signal);
  return true;
}
