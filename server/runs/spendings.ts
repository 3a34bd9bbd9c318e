import type { Card, CardUpdate } from '#lib/protocol/card';
import type { Clock } from '../base/clock.ts';
import type { CallService } from '../calls/room.ts';
import { type CallFollowers, createCallFollowers, type EventBus } from '../events/room.ts';
import type { Spending } from './agent/spending.ts';

export interface SpendingsDeps {
  readonly bus: Pick<EventBus, 'subscribe' | 'seq'>;
  readonly calls: Pick<CallService, 'watched'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** What the turns that run have spent, by run; each is given which of its calls wait for a person (DE16). */
export class Spendings {
  readonly #deps: SpendingsDeps;
  readonly #byRun = new Map<string, Spending>();
  readonly #followers: CallFollowers;

  constructor(deps: SpendingsDeps) {
    this.#deps = deps;
    this.#followers = createCallFollowers(deps.bus, 'run_id');
  }

  get(runId: string): Spending | undefined {
    return this.#byRun.get(runId);
  }

  async during<T>(runId: string, spending: Spending, work: () => Promise<T>): Promise<T> {
    this.#byRun.set(runId, spending);
    const unfollow = this.#followers.follow(runId, ({ tool_call_id: id, update }) => {
      if (update.phase !== undefined) spending.callWaits(id, waits(update), this.#now());
    });
    // What a restart left waiting; a new turn has none.
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
const waits = ({ phase }: Card | CardUpdate): boolean =>
  phase === 'approval' || phase === 'held' || phase === 'device';
