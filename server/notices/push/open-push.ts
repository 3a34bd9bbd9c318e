import { z } from 'zod';
import { browserName } from '#lib/format/read-user-agent';
import { TokenBuckets } from '#lib/limits/token-bucket';
import { closedObject } from '#lib/protocol/closed-object';
import { HttpError } from '#lib/protocol/http-error';
import type { PushState, PushSubscriptionBody, PushTestResult } from '#lib/protocol/push';
import { type Caller, principalKey } from '../../auth/room.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Attempt, Outcome, Target, TargetSource } from '../target.ts';
import { createPushHosts } from './push-hosts.ts';
import { isFor, kindOf, messageOf, testMessage } from './push-note.ts';
import { hostOf, type PushRecord, toWirePush } from './push-record.ts';
import {
  createPushSender,
  type PushSender,
  type PushSenderDeps,
  type Sent,
} from './push-sender.ts';
import { Subscriptions, type SubscriptionsDeps } from './subscriptions.ts';
import { loadVapidKeys } from './vapid-keys.ts';

export interface OpenPushDeps extends Omit<SubscriptionsDeps, 'hosts'> {
  readonly config: PushConfig;
  readonly dataDir: string;
  /** An origin by which the server is reached. */
  readonly publicUrl: string | undefined;
  readonly fetch: PushSenderDeps['fetch'];
  readonly logger: Logger;
}

/** Apple refuses a subject whose host cannot be one. */
const NO_SUBJECT = 'mailto:callboard@example.com';
const NO_TARGETS: TargetSource = { list: () => [] };
/** Tests by one token, with all of its browsers. */
const TESTS = { burst: 5, perSecond: 1 / 10 };
/** Operators, and browsers, whose notes are counted at a time. */
const MOST_COUNTED = 1_000;

/** The keys, the subscriptions of an earlier server, and the way to the push services. */
export async function openPush(deps: OpenPushDeps) {
  const { config } = deps;
  const hosts = createPushHosts(config.hosts);
  const keys = await loadVapidKeys(deps.dataDir);
  const subscriptions = new Subscriptions({ ...deps, hosts });
  await subscriptions.load();
  const subject = config.subject ?? httpsOnly(deps.publicUrl) ?? NO_SUBJECT;
  const send = createPushSender({ ...deps, hosts, keys, subject });
  const targets = new PushTargets({ ...deps, subscriptions, send });
  const service = createPushService(deps, { hosts: hosts.list, keys, subscriptions, send });
  return {
    service,
    /** For the outbox. */
    targets: config.enabled ? targets : NO_TARGETS,
  };
}

const httpsOnly = (url: string | undefined): string | undefined =>
  url?.startsWith('https:') ? url : undefined;

interface ServiceParts {
  readonly hosts: readonly string[];
  readonly keys: Awaited<ReturnType<typeof loadVapidKeys>>;
  readonly subscriptions: Subscriptions;
  readonly send: ReturnType<typeof createPushSender>;
}

export type PushService = ReturnType<typeof createPushService>;

/** Web Push as callers use it. What is refused is thrown as `HttpError`. */
function createPushService(
  { config, clock }: OpenPushDeps,
  { hosts, keys, subscriptions, send }: ServiceParts,
) {
  const tests = new TokenBuckets(TESTS, clock.now, MOST_COUNTED);
  const checkEnabled = () => {
    if (config.enabled) return;
    throw new HttpError('conflict', 'Web Push is turned off by push.enabled in the configuration.');
  };
  return {
    /** It has the caller's own subscriptions. */
    state: (caller: Caller): PushState => ({
      enabled: config.enabled,
      public_key: keys.publicKey,
      hosts: [...hosts],
      subscriptions: subscriptions
        .ownOf(caller)
        .map((record) => toWirePush(record, subscriptions.lastOf(record.pushId))),
    }),
    /** Resolves when it is on disk; the same browser again changes what it chose. */
    async subscribe(
      body: PushSubscriptionBody,
      { caller, userAgent }: { readonly caller: Caller; readonly userAgent: string | undefined },
    ) {
      checkEnabled();
      const record = await subscriptions.add(body, { caller, browser: browserName(userAgent) });
      return toWirePush(record, subscriptions.lastOf(record.pushId));
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
      await noteAttempt(subscriptions, record, sent, clock.now());
      const outcome = sent.kind === 'gone' ? 'ended' : sent.kind;
      const reason = sent.kind === 'failed' ? sent.reason : null;
      return { outcome, status: sent.status, reason };
    },
  };
}

/** Failures that one browser is sent: a program that fails in a circle is no reason to ring. */
const FAILURES = { burst: 5, perSecond: 1 / 60 };

interface PushTargetsDeps {
  readonly subscriptions: Subscriptions;
  readonly send: PushSender;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The browsers that are sent notes, as the outbox sees them: `push:<push id>`. */
class PushTargets implements TargetSource {
  readonly #deps: PushTargetsDeps;
  /** By push ids. */
  readonly #failures: TokenBuckets;
  #listed: { readonly records: readonly PushRecord[]; readonly targets: readonly Target[] } = {
    records: [],
    targets: [],
  };

  constructor(deps: PushTargetsDeps) {
    this.#deps = deps;
    this.#failures = new TokenBuckets(FAILURES, deps.clock.now, MOST_COUNTED);
  }

  list(): readonly Target[] {
    const records = this.#deps.subscriptions.list();
    if (records !== this.#listed.records) {
      this.#listed = { records, targets: records.map((record) => this.#targetOf(record)) };
    }
    return this.#listed.targets;
  }

  #targetOf(record: PushRecord): Target {
    return {
      id: PREFIX + record.pushId,
      wants: (notice) => isFor(record, notice),
      admit: (notice) =>
        kindOf(notice) !== 'failures' || this.#failures.take(record.pushId) === undefined,
      send: (attempt) => this.#send(record, attempt),
    };
  }

  async #send(record: PushRecord, { notice, signal }: Attempt): ReturnType<Target['send']> {
    const { send, subscriptions, clock, logger } = this.#deps;
    const host = hostOf(record.endpoint);
    try {
      const message = messageOf(record, notice, clock.now());
      if (!message) return 'obsolete';
      const sent = await send(record, message, signal);
      await noteAttempt(subscriptions, record, sent, clock.now());
      return toOutcome(sent, host);
    } catch (error) {
      logger.error(error, 'a push message was not made');
      return failed('the message could not be made; the log of the server has the reason');
    }
  }
}

const PREFIX = 'push:';

const failed = (reason: string): Outcome => ({ kind: 'failed', status: null, reason });

const REASONS = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  busy: 'is busy',
  redirected: 'answered with a redirect, which is not followed',
  refused: 'refused the message',
} as const;

function toOutcome(sent: Sent, host: string): Outcome {
  switch (sent.kind) {
    case 'delivered':
      return sent;
    case 'gone': {
      const why =
        sent.status === null ? 'is no push service of this server' : 'knows the browser no more';
      return { ...sent, reason: `${host} ${why}` };
    }
    case 'failed':
      return { ...sent, reason: `${host} ${REASONS[sent.reason]}` };
  }
}

/** Resolves, where the browser has given the subscription up, when that is off the disk. */
async function noteAttempt(
  subscriptions: Pick<Subscriptions, 'attempted' | 'remove'>,
  { pushId }: PushRecord,
  sent: Sent,
  at: number,
): Promise<void> {
  if (sent.kind === 'gone') return subscriptions.remove(pushId);
  const reason = sent.kind === 'failed' ? sent.reason : null;
  subscriptions.attempted(pushId, { at, status: sent.status, reason });
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
