import { z } from 'zod';
import { browserName } from '#lib/format/read-user-agent';
import { TokenBuckets } from '#lib/limits/token-bucket';
import { closedObject } from '#lib/protocol/closed-object';
import { HttpError } from '#lib/protocol/http-error';
import type { PushState, PushSubscriptionBody, PushTestResult } from '#lib/protocol/push';
import { given } from '#lib/util/given';
import { type Caller, principalKey } from '../../auth/room.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { type PostRequest, postOnce } from '../../base/post-once.ts';
import type { Outcome, Target } from '../target.ts';
import { encryptPush } from './encrypt-push.ts';
import { createPushHosts, type PushHosts } from './push-hosts.ts';
import { isFor, kindOf, messageOf, type PushMessage, testMessage } from './push-note.ts';
import { hostOf, type PushRecord, toWirePush } from './push-record.ts';
import { Subscriptions, type SubscriptionsDeps } from './subscriptions.ts';
import { loadVapidKeys, type VapidKeys } from './vapid-keys.ts';

export interface OpenPushDeps extends Omit<SubscriptionsDeps, 'hosts'> {
  readonly config: PushConfig;
  readonly dataDir: string;
  /** An origin by which the server is reached. */
  readonly publicUrl: string | undefined;
  readonly fetch: SendingDeps['fetch'];
  readonly logger: Logger;
}

/** Apple refuses a subject whose host cannot be one. */
const NO_SUBJECT = 'mailto:callboard@example.com';
/** Tests by one token, with all of its browsers. */
const TESTS = { burst: 5, perSecond: 1 / 10 };
/** Operators, and browsers, whose notes are counted at a time. */
const MOST_COUNTED = 1_000;

/** Failures that one browser is sent: a program that fails in a circle is no reason to ring. */
const FAILURES = { burst: 5, perSecond: 1 / 60 };

export type PushService = Awaited<ReturnType<typeof openPush>>['service'];

/** The keys, the subscriptions of an earlier server, and the way to the push services. */
export async function openPush(deps: OpenPushDeps) {
  const { config, clock, logger } = deps;
  const hosts = createPushHosts(config.hosts);
  const keys = await loadVapidKeys(deps.dataDir);
  const subscriptions = new Subscriptions({ ...deps, hosts });
  await subscriptions.load();
  const subject = config.subject ?? httpsOnly(deps.publicUrl) ?? NO_SUBJECT;
  const tests = new TokenBuckets(TESTS, clock.now, MOST_COUNTED);
  /** By push ids. */
  const failures = new TokenBuckets(FAILURES, clock.now, MOST_COUNTED);

  const checkEnabled = () => {
    if (config.enabled) return;
    throw new HttpError('conflict', 'Web Push is turned off by push.enabled in the configuration.');
  };
  /** Resolves, where the browser has given the subscription up, when that is off the disk. */
  const send = async (record: PushRecord, message: PushMessage, signal: AbortSignal) => {
    const { pushId } = record;
    const sent = await sendPush(record, message, { ...deps, hosts, keys, subject, signal });
    const { outcome, status, reason } = sent;
    if (outcome === 'ended') await subscriptions.remove(pushId);
    else subscriptions.attempted(pushId, { at: clock.now(), status, reason });
    return sent;
  };
  const toWire = (record: PushRecord) => toWirePush(record, subscriptions.lastOf(record.pushId));
  const targetOf = (record: PushRecord): Target => ({
    id: `push:${record.pushId}`,
    wants: (notice) => isFor(record, notice),
    admit: (notice) => kindOf(notice) !== 'failures' || failures.take(record.pushId) === undefined,
    async send({ notice, signal }) {
      try {
        const message = messageOf(record, notice, clock.now());
        if (!message) return 'obsolete';
        return toOutcome(await send(record, message, signal), hostOf(record.endpoint));
      } catch (error) {
        logger.error(error, 'a push message was not made');
        return { kind: 'failed', status: null, reason: NOT_MADE };
      }
    },
  });
  let listed: { readonly records: readonly PushRecord[]; readonly targets: readonly Target[] } = {
    records: [],
    targets: [],
  };
  return {
    /** Web Push as callers use it. What is refused is thrown as `HttpError`. */
    service: {
      /** It has the caller's own subscriptions. */
      state: (caller: Caller): PushState => ({
        enabled: config.enabled,
        public_key: keys.publicKey,
        hosts: [...hosts.list],
        subscriptions: subscriptions.ownOf(caller).map(toWire),
      }),
      /** Resolves when it is on disk; the same browser again changes what it chose. */
      async subscribe(
        body: PushSubscriptionBody,
        { caller, userAgent }: { readonly caller: Caller; readonly userAgent: string | undefined },
      ) {
        checkEnabled();
        return toWire(await subscriptions.add(body, { caller, browser: browserName(userAgent) }));
      },
      async unsubscribe(pushId: string, caller: Caller) {
        await subscriptions.remove(subscriptions.findOwn(pushId, caller).pushId);
      },
      /** Sends a note to one of the caller's own browsers now. */
      async test(pushId: string, caller: Caller, signal: AbortSignal): Promise<PushTestResult> {
        checkEnabled();
        const record = subscriptions.findOwn(pushId, caller);
        const retryAfter = tests.take(principalKey(caller));
        if (retryAfter !== undefined) {
          const message = 'Too many tests of push notes. Try again in a moment.';
          throw new HttpError('rate_limited', message, { retryAfter });
        }
        const sent = await send(record, testMessage(record, clock.now()), signal);
        return { outcome: sent.outcome, status: sent.status, reason: sent.reason };
      },
    },
    /** The browsers that are sent notes, as the outbox sees them. */
    targets: {
      list() {
        const records = config.enabled ? subscriptions.list() : [];
        if (records !== listed.records) listed = { records, targets: records.map(targetOf) };
        return listed.targets;
      },
    },
  };
}

/** `ended`: the browser gave the subscription up, or nothing may be sent to its push service (null). */
interface Sent extends PushTestResult {
  readonly retryAfterMs?: number;
}

interface SendingDeps {
  readonly fetch: NonNullable<PostRequest['fetch']>;
  readonly hosts: PushHosts;
  readonly keys: VapidKeys;
  /** `mailto:` or `https:`; push services refuse a request without one. */
  readonly subject: string;
  readonly clock: Clock;
}

const LONGEST_RETRY_AFTER_MS = 24 * 60 * 60_000;

/** Sends a note to the push service of a browser. Never rejects for what the service does. */
export async function sendPush(
  { endpoint: url, p256dh, auth }: PushRecord,
  message: PushMessage,
  { signal, fetch, hosts, keys, subject, clock }: SendingDeps & { readonly signal: AbortSignal },
): Promise<Sent> {
  // It was checked when it came, and the data directory may have been changed since.
  if (hosts.problemOf(url)) return { outcome: 'ended', status: null, reason: null };
  const { origin } = new URL(url);
  const receiver = {
    p256dh: Buffer.from(p256dh, 'base64url'),
    auth: Buffer.from(auth, 'base64url'),
  };
  const { status, failure, retryAfterMs } = await postOnce({
    url,
    signal,
    fetch,
    now: clock.now(),
    longestRetryAfterMs: LONGEST_RETRY_AFTER_MS,
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
  if (status === 404 || status === 410) return { outcome: 'ended', status, reason: null };
  if (failure === undefined) return { outcome: 'delivered', status, reason: null };
  return { outcome: 'failed', status, reason: failure, ...given({ retryAfterMs }) };
}

const httpsOnly = (url: string | undefined): string | undefined =>
  url?.startsWith('https:') ? url : undefined;

const NOT_MADE = 'the message could not be made; the log of the server has the reason';

const REASONS = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  busy: 'is busy',
  redirected: 'answered with a redirect, which is not followed',
  refused: 'refused the message',
} as const;

function toOutcome({ outcome, status, reason, retryAfterMs }: Sent, host: string): Outcome {
  if (outcome === 'delivered') return { kind: 'delivered', status };
  if (outcome === 'failed') {
    const why = `${host} ${REASONS[reason ?? 'refused']}`;
    return { kind: 'failed', status, reason: why, ...given({ retryAfterMs }) };
  }
  const why = status === null ? 'is no push service of this server' : 'knows the browser no more';
  return { kind: 'gone', status, reason: `${host} ${why}` };
}

const HOST = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/;

/** Web Push to browsers of people and to paired phones. */
export const pushConfigSchema = closedObject({
  enabled: z.boolean().default(true),
  /** Push services besides those that are known. Port 443 alone. */
  hosts: z
    .array(
      z
        .string()
        .toLowerCase()
        .regex(HOST, 'must be a host without a port, such as push.example.org or *.example.org'),
    )
    .max(64)
    .default([]),
  /** How a push service reaches the one who runs this server. */
  subject: z
    .string()
    .max(256)
    .regex(
      /^(?:mailto:[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+|https:\/\/[^\s<>/]+\S*)$/,
      'must be an address such as mailto:you@example.org or https://board.example.org',
    )
    .optional(),
}).prefault({});
type PushConfig = z.output<typeof pushConfigSchema>;
