import { browserName } from '#lib/format/read-user-agent';
import { createTokenBucket } from '#lib/net/token-bucket';
import { HttpError } from '#lib/protocol/http-error';
import type { Caller } from '../auth/principal.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { Logger } from '../base/logger.ts';
import type { TargetSource } from '../outbox/target.ts';
import type { PushConfig } from './push-config.ts';
import { createPushHosts } from './push-hosts.ts';
import { testMessage } from './push-note.ts';
import { toWirePush } from './push-record.ts';
import { createPushSender, type PushSenderDeps } from './push-sender.ts';
import type { PushService } from './push-service.ts';
import { noteAttempt, PushTargets } from './push-targets.ts';
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

export interface OpenedPush {
  readonly service: PushService;
  /** For the outbox. */
  readonly targets: TargetSource;
  /** Before requests are served. */
  follow(sessions: Pick<Sessions, 'onEnd'>): void;
}

/** Apple refuses a subject whose host cannot be one. */
const NO_SUBJECT = 'mailto:callboard@example.com';
/** Tests of all browsers of one server. */
const TESTS = { burst: 5, perSecond: 1 / 10 };
const TEST_RETRY_S = 10;

/** The keys, the subscriptions of an earlier server, and the way to the push services. */
export async function openPush(deps: OpenPushDeps): Promise<OpenedPush> {
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
    targets: config.enabled ? targets : { list: () => [] },
    follow: (sessions) => subscriptions.follow(sessions),
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

function createPushService(
  { config, clock }: OpenPushDeps,
  { hosts, keys, subscriptions, send }: ServiceParts,
): PushService {
  const tests = createTokenBucket(TESTS, clock.now);
  const checkEnabled = () => {
    if (config.enabled) return;
    throw new HttpError('conflict', 'Web Push is turned off by push.enabled in the configuration.');
  };
  return {
    state: (caller: Caller) => ({
      ...{ enabled: config.enabled, public_key: keys.publicKey, hosts: [...hosts] },
      subscriptions: subscriptions
        .ownOf(caller)
        .map((record) => toWirePush(record, subscriptions.lastOf(record.pushId))),
    }),
    async subscribe(body, { caller, userAgent }) {
      checkEnabled();
      const record = await subscriptions.add(body, { caller, browser: browserName(userAgent) });
      return toWirePush(record, subscriptions.lastOf(record.pushId));
    },
    async unsubscribe(pushId, caller) {
      await subscriptions.remove(subscriptions.findOwn(pushId, caller).pushId);
    },
    async test(pushId, caller, signal) {
      checkEnabled();
      const record = subscriptions.findOwn(pushId, caller);
      if (!tests.take()) {
        const message = 'Too many tests of push notes. Try again in a moment.';
        throw new HttpError('rate_limited', message, { retryAfter: TEST_RETRY_S });
      }
      const sent = await send(record, testMessage(record, clock.now()), signal);
      await noteAttempt(subscriptions, record, sent, clock.now());
      const outcome = sent.kind === 'gone' ? 'ended' : sent.kind;
      const reason = sent.kind === 'failed' ? sent.reason : null;
      return { outcome, status: sent.status, reason };
    },
  };
}
