import type { Card, CardUpdate } from '#lib/protocol/card';
import type { Clock } from '../base/clock.ts';
import type { CallService } from '../calls/room.ts';
import type { EventBus, LoggedEvent } from '../events/room.ts';
import type { Spending } from './agent/spending.ts';

export interface SpendingsDeps {
  readonly bus: Pick<EventBus, 'subscribe'>;
  readonly calls: Pick<CallService, 'watched'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** What the turns that run have spent, by run; each is given which of its calls wait for a person (DE16). */
export class Spendings {
  readonly #deps: SpendingsDeps;
  readonly #byRun = new Map<string, Spending>();
  readonly #subscription: { close(): void };

  constructor(deps: SpendingsDeps) {
    this.#deps = deps;
    this.#subscription = deps.bus.subscribe({ onEvents: (events) => this.#follow(events) });
  }

  get(runId: string): Spending | undefined {
    return this.#byRun.get(runId);
  }

  async during<T>(runId: string, spending: Spending, work: () => Promise<T>): Promise<T> {
    this.#byRun.set(runId, spending);
    // What a restart left waiting; a new turn has none.
    for (const { id, card, createdAt } of this.#deps.calls.watched(runId)) {
      if (waits(card)) spending.callWaits(id, true, createdAt / 1000);
    }
    try {
      return await work();
    } finally {
      this.#byRun.delete(runId);
      spending.end(this.#now());
    }
  }

  close(): void {
    this.#subscription.close();
  }

  #follow(events: readonly LoggedEvent[]): void {
    for (const { event } of events) {
      if (event.type !== 'call' || event.update.phase === undefined) continue;
      const { run_id: runId, tool_call_id: id, update } = event;
      this.#byRun.get(runId)?.callWaits(id, waits(update), this.#now());
    }
  }

  #now(): number {
    return this.#deps.clock.now() / 1000;
  }
}

/** For an operator, or for the person at the device. */
const waits = ({ phase }: Card | CardUpdate): boolean =>
  phase === 'approval' || phase === 'held' || phase === 'device';
