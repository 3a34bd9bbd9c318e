import { hash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '#lib/json/equal';
import { Counts, hasFairShare } from '#lib/limits/counts';
import { TokenBucket } from '#lib/limits/token-bucket';
import { limitsFor, type Policy, type PolicyQuestion } from '#lib/policy/decide-policy';
import type { COUNTED_BY, PolicyLimit } from '#lib/policy/policy-definition';
import { spellingOf } from '#lib/protocol/tool-name';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { KeptArea, type Store } from '../store/room.ts';
import type { LimitLeft } from './policy-service.ts';

/**
 * So much is counted separately, and of each caller its share. What a caller is counted by beyond
 * that has one count for each limit and caller: it uses up its own, and nothing of another's.
 */
const MOST_COUNTS = 10_000;

/** Between two looks at which of them are full again. */
const SWEEP_MS = 60_000;

/** `by`: the caller for whom it is counted. */
const countSchema = z.object({ tokens: z.number(), at: z.number(), by: z.string().default('') });
type Count = z.infer<typeof countSchema>;

/** A key begins with that of the limit. */
const countKeySchema = z.tuple([z.string()], z.string());

export interface RateLimitsDeps {
  readonly store: Pick<Store, 'write' | 'listKept'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often calls may be made (rule PO11): what is left of each limit, kept over restarts. */
export class RateLimits {
  readonly #kept: KeptArea<Count>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #counts = new Map<string, Count>();
  /** How many of them there are for each caller, by what ends it. */
  readonly #ofCaller = new Counts();
  readonly #forget = new Map<string, () => void>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor({ store, clock, logger }: RateLimitsDeps) {
    this.#clock = clock;
    this.#logger = logger;
    this.#kept = new KeptArea({ store, area: 'rate', schema: countSchema, now: clock.now });
  }

  /** Takes up what an earlier server kept. Once, before anything is counted. */
  async load(): Promise<void> {
    for (const { key, value } of await this.#kept.load()) this.#put(key, value);
  }

  /** Counts a call, by all of its limits or by none: then the one that is used up for longest. */
  take(policy: Policy, question: PolicyQuestion): LimitLeft | undefined {
    const limits = differing(limitsFor(policy, question));
    if (limits.length === 0) return undefined;
    if (this.#counts.size >= MOST_COUNTS / 2) this.#forgetFull(policy);
    const longest = this.#left(limits, question).reduce((a, b) =>
      b.retry_after > a.retry_after ? b : a,
    );
    if (longest.retry_after > 0) return longest;
    this.#keep(limits.map(({ limit }) => this.#spend(limit, question)));
    return undefined;
  }

  /** Says what is left for such a call. Counts nothing. */
  left(policy: Policy, question: PolicyQuestion): LimitLeft[] {
    return this.#left(limitsFor(policy, question), question);
  }

  #left(limits: ReturnType<typeof limitsFor>, question: PolicyQuestion): LimitLeft[] {
    return limits.map(({ id, limit }) => {
      const { tokens } = this.#bucket(this.#keyOf(limit, question), limit);
      const missing = Math.max(0, 1 - tokens);
      const retry_after = Math.ceil((missing * limit.seconds) / limit.calls);
      return { limit: id, left: Math.floor(tokens), retry_after };
    });
  }

  #spend(limit: PolicyLimit, question: PolicyQuestion): { key: string; value: Count } {
    const key = this.#keyOf(limit, question);
    const bucket = this.#bucket(key, limit);
    bucket.spend();
    const by = this.#counts.get(key)?.by ?? PART.caller(question);
    const value = { tokens: bucket.tokens, at: this.#clock.now(), by };
    this.#put(key, value);
    return { key, value };
  }

  #put(key: string, count: Count): void {
    this.#counts.set(key, count);
    const end = this.#forget.has(key) ? undefined : this.#ofCaller.enter(count.by);
    if (end) this.#forget.set(key, end);
  }

  #bucket(key: string, { calls, seconds }: PolicyLimit) {
    const rate = { burst: calls, perSecond: calls / seconds };
    return new TokenBucket(rate, this.#clock.now, this.#counts.get(key));
  }

  /** A full one is as one that is not there; one of a limit that was taken out counts nothing. */
  #forgetFull({ limits }: Policy): void {
    const now = this.#clock.now();
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    const byKey = new Map(limits.map(({ limit }) => [keyOfLimit(limit), limit]));
    const full = [...this.#counts.keys()].filter((key) => {
      const limit = byKey.get(countKeySchema.parse(JSON.parse(key))[0]);
      return limit === undefined || this.#bucket(key, limit).tokens >= limit.calls;
    });
    for (const key of full) {
      this.#counts.delete(key);
      this.#forget.get(key)?.();
      this.#forget.delete(key);
    }
    this.#keep(full.map((key) => ({ key })));
  }

  /** A new one finds room while its caller has some; none is forgotten for it, since that would fill it. */
  #keyOf(limit: PolicyLimit, question: PolicyQuestion): string {
    const ofLimit = keyOfLimit(limit);
    const key = JSON.stringify([ofLimit, ...(limit.each ?? []).map((by) => PART[by](question))]);
    if (this.#counts.has(key)) return key;
    const caller = PART.caller(question);
    const isFair = hasFairShare(this.#ofCaller.of(caller), this.#counts.size, MOST_COUNTS);
    return isFair ? key : JSON.stringify([ofLimit, '', caller]);
  }

  /** In the write of the call that follows, so that no crash gives it back. */
  #keep(changes: { key: string; value?: Count }[]): void {
    this.#kept.change(changes).catch(this.#logger.error);
  }
}

/** Each of a definition is computed once. */
const hashes = new WeakMap<PolicyLimit, string>();

/** Its name, or what it says: its place in the file would pass its counts on to the one that takes it. */
function keyOfLimit(limit: PolicyLimit): string {
  if (limit.name !== undefined) return limit.name;
  const known = hashes.get(limit);
  if (known !== undefined) return known;
  const key = `#${hash('sha256', canonicalJson(limit)).slice(0, 32)}`;
  hashes.set(limit, key);
  return key;
}

/** Two that say the same have one count, which a call is counted by once. */
function differing(limits: ReturnType<typeof limitsFor>): ReturnType<typeof limitsFor> {
  return [...new Map(limits.map((one) => [keyOfLimit(one.limit), one])).values()];
}

const PART: Record<(typeof COUNTED_BY)[number], (question: PolicyQuestion) => string> = {
  caller: ({ caller }) => `${caller.kind}:${caller.name}`,
  tool: ({ toolName }) => spellingOf(toolName),
  client: ({ clientId }) => clientId ?? '',
};
