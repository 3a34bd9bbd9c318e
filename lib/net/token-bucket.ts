/** `burst` at once, and `perSecond` over time. */
export interface RateLimit {
  readonly burst: number;
  readonly perSecond: number;
}

/** A limit on a rate. Tokens come with time; each message takes one. */
export interface TokenBucket {
  readonly isEmpty: boolean;
  /** How many there are now; not a whole number as a rule. */
  readonly tokens: number;
  /** Takes a token, or so many; false, and nothing taken, when there are fewer. */
  take(count?: number): boolean;
  /** Takes a token that may be missing: the next ones then fill the debt. */
  spend(): void;
  giveBack(): void;
}

/** How many tokens there were at a moment, in milliseconds. */
export interface TokenCount {
  readonly tokens: number;
  readonly at: number;
}

/**
 * `now` in milliseconds. A clock that was set back brings no tokens, and costs none. Full, or with
 * what was left of an earlier one.
 */
export function createTokenBucket(
  { burst, perSecond }: RateLimit,
  now: () => number,
  left: TokenCount = { tokens: burst, at: now() },
): TokenBucket {
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
    get isEmpty() {
      return fill() < 1;
    },
    get tokens() {
      return fill();
    },
    take(count = 1) {
      if (fill() < count) return false;
      tokens -= count;
      return true;
    },
    spend() {
      fill();
      tokens -= 1;
    },
    giveBack() {
      tokens = Math.min(burst, tokens + 1);
    },
  };
}
