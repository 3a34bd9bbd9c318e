/** How many messages a connection may send: `burst` at once, and `perSecond` over time. */
export interface FloodLimits {
  readonly burst: number;
  readonly perSecond: number;
}

/** A bucket of tokens. What the server itself asked for is given back, so work is never a flood. */
export function createFloodGuard({ burst, perSecond }: FloodLimits, now: () => number) {
  let tokens = burst;
  let filledAt = now();

  return {
    /** False: too much; the connection is to be closed. */
    take(): boolean {
      const at = now();
      tokens = Math.min(burst, tokens + ((at - filledAt) * perSecond) / 1000);
      filledAt = at;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
    giveBack(): void {
      tokens = Math.min(burst, tokens + 1);
    },
  };
}
