import { createTokenBucket, type TokenBucket } from '#lib/net/token-bucket';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Attempt, Outcome, Target, TargetSource } from '../outbox/target.ts';
import { isFor, kindOf, messageOf } from './push-note.ts';
import { hostOf, type PushRecord } from './push-record.ts';
import type { PushSender, Sent } from './push-sender.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Failures that one browser is sent: a program that fails in a circle is no reason to ring. */
const FAILURES = { burst: 5, perSecond: 1 / 60 };

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
  /** By push ids. */
  readonly #failures = new Map<string, TokenBucket>();
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
      for (const id of this.#failures.keys()) if (!live.has(id)) this.#failures.delete(id);
    }
    return this.#listed.targets;
  }

  #targetOf(record: PushRecord): Target {
    const known = this.#targets.get(record);
    if (known) return known;
    const target: Target = {
      id: PREFIX + record.pushId,
      wants: (notice) => isFor(record, notice),
      admit: (notice) => kindOf(notice) !== 'failures' || this.#failuresOf(record.pushId).take(),
      send: (attempt) => this.#send(record, attempt),
    };
    this.#targets.set(record, target);
    return target;
  }

  #failuresOf(pushId: string): TokenBucket {
    const known = this.#failures.get(pushId);
    const bucket = known ?? createTokenBucket(FAILURES, this.#deps.clock.now);
    if (!known) this.#failures.set(pushId, bucket);
    return bucket;
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
