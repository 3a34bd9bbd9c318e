import type { TurnBudget } from './turn-budget.ts';

export interface SpentLimit {
  readonly unit: 'seconds' | 'calls' | 'tokens';
  readonly limit: number;
}

/**
 * What a turn has taken of its budget, and of the budgets of those above it: the turns of its
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

  constructor(budget: TurnBudget, above?: Spending) {
    this.#budget = budget;
    this.#above = above;
  }

  /** Before a step: `calls` of the turn, as they are on disk. A new message of a person begins anew. */
  begin(since: number, calls: number): void {
    if (this.#since !== since) {
      this.#callsBelow = 0;
      this.#tokens = 0;
    }
    this.#since = since;
    this.#ownCalls = calls;
  }

  tookTokens(count: number): void {
    this.#tokens += count;
    this.#above?.tookTokens(count);
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
    const all = { seconds: now - since, calls: this.#calls, tokens: this.#tokens };
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

  get #calls(): number {
    return this.#ownCalls + this.#callsBelow;
  }

  #spentCalls(): SpentLimit | undefined {
    const limit = this.#budget.calls;
    if (limit !== null && this.#calls >= limit) return { unit: 'calls', limit };
    return this.#above === undefined ? undefined : this.#above.#spentCalls();
  }
}
