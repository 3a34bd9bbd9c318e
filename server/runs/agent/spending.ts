/** The most that one turn may take; null for no limit. */
export interface TurnBudget {
  /** Since the person's message. */
  readonly seconds: number | null;
  readonly calls: number | null;
  /** Input and output as the provider counts them; since the start of the server. */
  readonly tokens: number | null;
}

export const NO_BUDGET: TurnBudget = { seconds: null, calls: null, tokens: null };

export interface SpentLimit {
  readonly unit: 'seconds' | 'calls' | 'tokens';
  readonly limit: number;
}

/**
 * Counts what a turn has taken of its budget, and of the budgets of those above it: the turns of its
 * sub-agents spend it too (DE6). Tokens, and calls of sub-agents, count since the start of the server.
 */
export class Spending {
  readonly #budget: TurnBudget;
  readonly #above: Spending | undefined;
  /** Unix seconds of the person's message, or of the task. */
  #since: number | undefined;
  #tokens = 0;
  #ownCalls = 0;
  #callsBelow = 0;
  /** Calls of the run, and of those below it, that wait for a person. */
  readonly #waiting = new Set<string>();
  /** Unix seconds. */
  #waitingSince = 0;
  /** Seconds in which at least one waited, but for those that wait now. */
  #waited = 0;

  constructor(budget: TurnBudget, above?: Spending) {
    this.#budget = budget;
    this.#above = above;
  }

  /** Before a step: `calls` of the turn, as they are on disk. A new message of a person begins anew. */
  begin(since: number, calls: number): void {
    if (this.#since !== since) {
      this.#callsBelow = 0;
      this.#tokens = 0;
      this.#waited = 0;
      this.#waitingSince = Math.max(this.#waitingSince, since);
    }
    this.#since = since;
    this.#ownCalls = calls;
  }

  tookTokens(count: number): void {
    this.#tokens += count;
    this.#above?.tookTokens(count);
  }

  /** The time stands while a call of the run, or of one below it, waits for a person (DE16). */
  callWaits(callId: string, isWaiting: boolean, now: number): void {
    const before = this.#waiting.size;
    if (isWaiting) this.#waiting.add(callId);
    else this.#waiting.delete(callId);
    const { size } = this.#waiting;
    if (before === 0 && size > 0) this.#waitingSince = now;
    if (before > 0 && size === 0) this.#waited += now - this.#waitingSince;
    this.#above?.callWaits(callId, isWaiting, now);
  }

  /** The turn has ended, and calls of it that still wait with it. */
  end(now: number): void {
    for (const id of this.#waiting) this.callWaits(id, false, now);
  }

  /** Counts a call, unless that is more than a budget has: then it is the limit that is in the way. */
  takeCall(): SpentLimit | undefined {
    const spent = this.#spentCalls();
    if (spent) return spent;
    this.#ownCalls += 1;
    this.#above?.tookCallBelow();
    return undefined;
  }

  /** The first limit that is reached, its own before those above. */
  spent(now: number): SpentLimit | undefined {
    const since = this.#since ?? now;
    const seconds = now - since - this.#waitedUntil(now);
    const all = { seconds, calls: this.#calls, tokens: this.#tokens };
    for (const unit of ['seconds', 'calls', 'tokens'] as const) {
      const limit = this.#budget[unit];
      if (limit !== null && all[unit] >= limit) return { unit, limit };
    }
    return this.#above?.spent(now);
  }

  tookCallBelow(): void {
    this.#callsBelow += 1;
    this.#above?.tookCallBelow();
  }

  #waitedUntil(now: number): number {
    return this.#waited + (this.#waiting.size > 0 ? now - this.#waitingSince : 0);
  }

  get #calls(): number {
    return this.#ownCalls + this.#callsBelow;
  }

  #spentCalls(): SpentLimit | undefined {
    const limit = this.#budget.calls;
    if (limit !== null && this.#calls >= limit) return { unit: 'calls', limit };
    return this.#above === undefined ? undefined : this.#above.#spentCalls();
  }
}
