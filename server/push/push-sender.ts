import { readRetryAfter } from '#lib/net/retry-after';
import type { PushFailure } from '#lib/protocol/push';
import type { Clock } from '../clock.ts';
import { encryptPush } from './encrypt-push.ts';
import type { PushHosts } from './push-hosts.ts';
import type { PushMessage } from './push-note.ts';
import type { PushRecord } from './push-record.ts';
import type { VapidKeys } from './vapid-keys.ts';

/** What became of one request to a push service. */
export type Sent =
  | { readonly kind: 'delivered'; readonly status: number }
  | {
      readonly kind: 'failed';
      readonly status: number | null;
      readonly reason: PushFailure;
      readonly retryAfterMs?: number;
    }
  /** The browser has given the subscription up. */
  | { readonly kind: 'gone'; readonly status: number };

export interface PushSenderDeps {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly hosts: PushHosts;
  readonly keys: VapidKeys;
  /** `mailto:` or `https:`; push services refuse a request without one. */
  readonly subject: string;
  readonly clock: Clock;
}

export type PushSender = (
  record: PushRecord,
  message: PushMessage,
  signal: AbortSignal,
) => Promise<Sent>;

const TIMEOUT_MS = 15_000;
const LONGEST_RETRY_MS = 24 * 60 * 60_000;

/** Sends a note to the push service of a browser. Never rejects for what the service does. */
export function createPushSender(deps: PushSenderDeps): PushSender {
  const { fetch, hosts, keys, subject, clock } = deps;
  return async (record, message, signal) => {
    const { endpoint } = record;
    // It was checked when it came, and the data directory may have been changed since.
    if (hosts.problemOf(endpoint)) return { kind: 'gone', status: 0 };
    const { origin } = new URL(endpoint);
    const receiver = {
      p256dh: Buffer.from(record.p256dh, 'base64url'),
      auth: Buffer.from(record.auth, 'base64url'),
    };
    const request: RequestInit = {
      method: 'POST',
      headers: {
        authorization: keys.authorization({ origin, subject, nowMs: clock.now() }),
        'content-encoding': 'aes128gcm',
        'content-type': 'application/octet-stream',
        ttl: String(message.ttlSeconds),
        urgency: message.urgency,
        topic: message.topic,
      },
      body: encryptPush(Buffer.from(JSON.stringify(message.text)), receiver),
      // The address that a push service names is no push service.
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    };
    try {
      const response = await fetch(endpoint, request);
      // Only the status counts: the body is left where it is, however long, and whether it was cut.
      response.body?.cancel().catch(() => undefined);
      return toSent(response, clock.now());
    } catch (error) {
      const isLate = error instanceof Error && /^(?:TimeoutError|AbortError)$/.test(error.name);
      return { kind: 'failed', status: null, reason: isLate ? 'timeout' : 'unreachable' };
    }
  };
}

function toSent({ status, headers }: Response, now: number): Sent {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  if (status === 404 || status === 410) return { kind: 'gone', status };
  const reason = reasonOf(status);
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), { now, most: LONGEST_RETRY_MS });
  return {
    kind: 'failed',
    status,
    reason,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function reasonOf(status: number): PushFailure {
  if (status >= 300 && status < 400) return 'redirected';
  return status === 429 || status >= 500 ? 'busy' : 'refused';
}
