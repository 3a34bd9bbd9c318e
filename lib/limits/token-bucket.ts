import { keepNewest } from './keep-newest.ts';

/** `burst` at once, and `perSecond` over time. */
export interface RateLimit {
  readonly burst: number;
  readonly perSecond: number;
}

/** How many tokens there were at a moment, in milliseconds. */
export interface TokenCount {
  readonly tokens: number;
  readonly at: number;
}

/**
 * A limit on a rate: tokens come with time, and each message takes one. `now` is in milliseconds; a
 * clock that was set back brings no tokens and costs none. A bucket begins full, or with what was
 * left of an earlier one.
 */
export class TokenBucket {
  readonly #rate: RateLimit;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  constructor(rate: RateLimit, now: () => number, left?: TokenCount) {
    this.#rate = rate;
    this.#now = now;
    this.#tokens = Math.min(rate.burst, left?.tokens ?? rate.burst);
    this.#filledAt = Math.min(left?.at ?? now(), now());
  }

  get isEmpty(): boolean {
    return this.tokens < 1;
  }

  /** How many there are now; as a rule that is not a whole number. */
  get tokens(): number {
    const at = this.#now();
    const elapsedMs = Math.max(0, at - this.#filledAt);
    const { burst, perSecond } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + (elapsedMs * perSecond) / 1_000);
    this.#filledAt = at;
    return this.#tokens;
  }

  /** Takes so many tokens; false, and nothing is taken, when there are fewer. */
  take(count = 1): boolean {
    if (this.tokens < count) return false;
    this.#tokens -= count;
    return true;
  }

  /** Takes a token that may be missing: the next ones then fill the debt. */
  spend(): void {
    this.#tokens = this.tokens - 1;
  }

  giveBack(): void {
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + 1);
  }

  /** In whole seconds; 0 when there are so many now. */
  secondsUntil(count = 1): number {
    return Math.ceil(Math.max(0, count - this.tokens) / this.#rate.perSecond);
  }
}

/**
 * A bucket for each principal. Of more than `most` the one that was used longest ago is forgotten,
 * and is full again when it comes back: a stranger's flood takes no token of another.
 */
export class TokenBuckets {
  readonly #rate: RateLimit;
  readonly #now: () => number;
  readonly #most: number;
  /** The one that was used last stands last. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(rate: RateLimit, now: () => number, most: number) {
    this.#rate = rate;
    this.#now = now;
    this.#most = most;
  }

  /** Takes so many tokens, or takes none and gives the whole seconds until there are as many. */
  take(principal: string, count = 1): number | undefined {
    const bucket = this.#of(principal);
    return bucket.take(count) ? undefined : Math.max(1, bucket.secondsUntil(count));
  }

  #of(principal: string): TokenBucket {
    const bucket = this.#buckets.get(principal) ?? new TokenBucket(this.#rate, this.#now);
    this.#buckets.delete(principal);
    this.#buckets.set(principal, bucket);
    keepNewest(this.#buckets, this.#most);
    return bucket;
  }
}
