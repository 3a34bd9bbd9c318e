/** `burst` at once, and `perSecond` over time. */
export interface RateLimit {
  readonly burst: number;
  readonly perSecond: number;
}

export type TokenBucket = ReturnType<typeof createTokenBucket>;

/** How many tokens there were at a moment, in milliseconds. */
export interface TokenCount {
  readonly tokens: number;
  readonly at: number;
}

/**
 * A limit on a rate: tokens come with time, and each message takes one. `now` in milliseconds. A clock that was set back brings no tokens, and costs none. Full, or with
 * what was left of an earlier one.
 */
export function createTokenBucket(
  { burst, perSecond }: RateLimit,
  now: () => number,
  left: TokenCount = { tokens: burst, at: now() },
) {
  let tokens = Math.min(burst, left.tokens);
  let filledAt = Math.min(left.at, now());

  function fill(): number {
    const at = now();
    const elapsedMs = Math.max(0, at - filledAt);
    tokens = Math.min(burst, tokens + (elapsedMs * perSecond) / 1_000);
    filledAt = at;
    return tokens;
  }

  return {
    get isEmpty(): boolean {
      return fill() < 1;
    },
    /** How many there are now; not a whole number as a rule. */
    get tokens(): number {
      return fill();
    },
    /** Takes a token, or so many; false, and nothing taken, when there are fewer. */
    take(count = 1): boolean {
      if (fill() < count) return false;
      tokens -= count;
      return true;
    },
    /** Takes a token that may be missing: the next ones then fill the debt. */
    spend(): void {
      fill();
      tokens -= 1;
    },
    giveBack(): void {
      tokens = Math.min(burst, tokens + 1);
    },
  };
}
