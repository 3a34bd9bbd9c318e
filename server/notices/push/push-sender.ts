import type { PushFailure } from '#lib/protocol/push';
import { given } from '#lib/util/given';
import type { Clock } from '../../base/clock.ts';
import { type Answered, isRedirect, type PostRequest, postOnce } from '../post-once.ts';
import { encryptPush } from './encrypt-push.ts';
import type { PushHosts } from './push-hosts.ts';
import type { PushMessage } from './push-note.ts';
import type { PushRecord } from './push-record.ts';
import type { VapidKeys } from './vapid-keys.ts';

/** A request to a push service ends so. */
export type Sent =
  | { readonly kind: 'delivered'; readonly status: number }
  | {
      readonly kind: 'failed';
      readonly status: number | null;
      readonly reason: PushFailure;
      readonly retryAfterMs?: number;
    }
  /** The browser has given the subscription up, or nothing may be sent to its push service: null. */
  | { readonly kind: 'gone'; readonly status: number | null };

export interface PushSenderDeps {
  readonly fetch: NonNullable<PostRequest['fetch']>;
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

const LONGEST_RETRY_AFTER_MS = 24 * 60 * 60_000;

/** Sends a note to the push service of a browser. Never rejects for what the service does. */
export function createPushSender(deps: PushSenderDeps): PushSender {
  const { fetch, hosts, keys, subject, clock } = deps;
  return async (record, message, signal) => {
    const { endpoint: url } = record;
    const { origin } = new URL(url);
    const receiver = {
      p256dh: Buffer.from(record.p256dh, 'base64url'),
      auth: Buffer.from(record.auth, 'base64url'),
    };
    const answered = await postOnce({
      url,
      signal,
      fetch,
      now: clock.now(),
      longestRetryAfterMs: LONGEST_RETRY_AFTER_MS,
      // It was checked when it came, and the data directory may have been changed since.
      mayReach: (to) => hosts.problemOf(to) === undefined,
      headers: {
        authorization: keys.authorization({ origin, subject, nowMs: clock.now() }),
        'content-encoding': 'aes128gcm',
        'content-type': 'application/octet-stream',
        ttl: String(message.ttlSeconds),
        urgency: message.urgency,
        topic: message.topic,
      },
      body: encryptPush(Buffer.from(JSON.stringify(message.text)), receiver),
    });
    return toSent(answered);
  };
}

function toSent(answered: Answered): Sent {
  if (answered.kind === 'forbidden') return { kind: 'gone', status: null };
  if (answered.kind !== 'answered') return { kind: 'failed', status: null, reason: answered.kind };
  const { status, retryAfterMs } = answered;
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  if (status === 404 || status === 410) return { kind: 'gone', status };
  return { kind: 'failed', status, reason: reasonOf(status), ...given({ retryAfterMs }) };
}

function reasonOf(status: number): PushFailure {
  if (isRedirect(status)) return 'redirected';
  return status === 429 || status >= 500 ? 'busy' : 'refused';
}
