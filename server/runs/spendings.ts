import type { Card } from '#lib/protocol/card';
import type { RunParent } from '#lib/protocol/run';
import type { Clock } from '../base/clock.ts';
import type { CallService } from '../calls/room.ts';
import { NO_BUDGET, Spending, type TurnBudget } from './agent/spending.ts';

export interface SpendingsDeps {
  readonly calls: Pick<CallService, 'watched' | 'follow'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Turns that run spend something, by run; each is given which of its calls wait for a person (DE16). */
export class Spendings {
  readonly #deps: SpendingsDeps;
  readonly #byRun = new Map<string, Spending>();

  constructor(deps: SpendingsDeps) {
    this.#deps = deps;
  }

  /** A sub-agent spends the budget of the turn that it works for, beside its own (DE6). */
  of(parent: RunParent | undefined, own = NO_BUDGET, ofTurn: TurnBudget): Spending {
    if (!parent) return new Spending(ofTurn);
    return new Spending(own, this.#byRun.get(parent.run_id) ?? new Spending(ofTurn));
  }

  async during<T>(runId: string, spending: Spending, work: () => Promise<T>): Promise<T> {
    this.#byRun.set(runId, spending);
    const unfollow = this.#deps.calls.follow({ runId }, ({ call }) => {
      spending.callWaits(call.id, waits(call.card), this.#now());
    });
    // A restart may have left some waiting; a new turn has none.
    for (const { id, card, createdAt } of this.#deps.calls.watched(runId)) {
      if (waits(card)) spending.callWaits(id, true, createdAt / 1000);
    }
    try {
      return await work();
    } finally {
      unfollow();
      this.#byRun.delete(runId);
      spending.end(this.#now());
    }
  }

  #now(): number {
    return this.#deps.clock.now() / 1000;
  }
}

/** For an operator, or for the person at the device. */
const waits = ({ phase }: Card): boolean =>
  phase === 'approval' || phase === 'held' || phase === 'device';
