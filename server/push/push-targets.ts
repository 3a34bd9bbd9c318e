import { createTokenBucket, type TokenBucket } from '#lib/net/token-bucket';
import type { Notice, NoticeType } from '#lib/protocol/notice';
import type { PushKind } from '#lib/protocol/push-kinds';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Attempt, Outcome, Target, TargetSource } from '../outbox/target.ts';
import { isFor, kindOf, messageOf } from './push-note.ts';
import { hostOf, type PushRecord } from './push-record.ts';
import type { PushSender, Sent } from './push-sender.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Failures that one browser is sent: a program that fails in a circle is no reason to ring. */
const FAILURES = { burst: 5, perSecond: 1 / 60 };
/** Of each browser: a notice may be asked about more than once. */
const REMEMBERED = 64;

export interface PushTargetsDeps {
  readonly subscriptions: Subscriptions;
  readonly send: PushSender;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The browsers that are sent notes, as the outbox sees them: `push:<push id>`. */
export class PushTargets implements TargetSource {
  readonly #deps: PushTargetsDeps;
  readonly #targets = new WeakMap<PushRecord, Target>();
  readonly #limits = new Map<string, FailureLimit>();
  #listed: { readonly records: readonly PushRecord[]; readonly targets: readonly Target[] } = {
    ...{ records: [], targets: [] },
  };

  constructor(deps: PushTargetsDeps) {
    this.#deps = deps;
  }

  list(): readonly Target[] {
    const records = this.#deps.subscriptions.list();
    if (records !== this.#listed.records) {
      this.#listed = { records, targets: records.map((record) => this.#targetOf(record)) };
      const live = new Set(records.map(({ pushId }) => pushId));
      for (const id of this.#limits.keys()) if (!live.has(id)) this.#limits.delete(id);
    }
    return this.#listed.targets;
  }

  #targetOf(record: PushRecord): Target {
    const known = this.#targets.get(record);
    if (known) return known;
    const target: Target = {
      id: PREFIX + record.pushId,
      shown: { host: hostOf(record.endpoint), events: eventsOf(record) },
      wants: (notice) => isFor(record, notice) && this.#hasRoom(record.pushId, notice),
      send: (attempt) => this.#send(record, attempt),
    };
    this.#targets.set(record, target);
    return target;
  }

  #hasRoom(pushId: string, notice: Notice): boolean {
    if (kindOf(notice) !== 'failures') return true;
    const limit = this.#limits.get(pushId) ?? new FailureLimit(this.#deps.clock);
    this.#limits.set(pushId, limit);
    return limit.admits(notice.id);
  }

  async #send(record: PushRecord, { notice, signal }: Attempt): ReturnType<Target['send']> {
    const { send, subscriptions, clock, logger } = this.#deps;
    const host = hostOf(record.endpoint);
    try {
      const message = messageOf(record, notice, clock.now());
      if (!message) return 'obsolete';
      const sent = await send(record, message, signal);
      await noteAttempt(subscriptions, record, sent, clock.now());
      return sent.kind === 'failed' ? toFailed(sent, host) : sent;
    } catch (error) {
      logger.error(error, 'a push message was not made');
      return failed('the message could not be made; the log of the server has the reason');
    }
  }
}

const PREFIX = 'push:';

const EVENTS: Readonly<Record<PushKind, readonly NoticeType[]>> = {
  approvals: ['approval.requested', 'approval.decided'],
  // Of conversations a person alone.
  failures: ['call.finished', 'run.finished'],
};

const eventsOf = ({ kinds }: PushRecord): NoticeType[] => kinds.flatMap((kind) => EVENTS[kind]);

const failed = (reason: string): Outcome => ({ kind: 'failed', status: null, reason });

const REASONS = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  busy: 'is busy',
  redirected: 'answered with a redirect, which is not followed',
  refused: 'refused the message',
} as const;

const toFailed = (
  { reason, ...sent }: Extract<Sent, { kind: 'failed' }>,
  host: string,
): Outcome => ({
  ...sent,
  reason: `${host} ${REASONS[reason]}`,
});

/** Resolves, where the browser has given the subscription up, when that is off the disk. */
export async function noteAttempt(
  subscriptions: Pick<Subscriptions, 'attempted' | 'remove'>,
  { pushId }: PushRecord,
  sent: Sent,
  at: number,
): Promise<void> {
  if (sent.kind === 'gone') return subscriptions.remove(pushId);
  const reason = sent.kind === 'failed' ? sent.reason : null;
  subscriptions.attempted(pushId, { at, status: sent.status, reason });
}

/** Answers the same for the same notice. */
class FailureLimit {
  readonly #bucket: TokenBucket;
  readonly #answers = new Map<string, boolean>();

  constructor(clock: Clock) {
    this.#bucket = createTokenBucket(FAILURES, clock.now);
  }

  admits(noticeId: string): boolean {
    const answer = this.#answers.get(noticeId) ?? this.#bucket.take();
    this.#answers.set(noticeId, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > REMEMBERED && oldest !== undefined) this.#answers.delete(oldest);
    return answer;
  }
}
