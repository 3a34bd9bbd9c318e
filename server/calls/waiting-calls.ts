import type { CallRecord } from '#lib/call/call-record';
import type { CallIndex } from './call-index.ts';
import type { CallRepository } from './call-repository.ts';
import type { CallEngine } from './engine.ts';
import type { InstanceFacts, Router } from './router.ts';

/** Offers calls that wait, when who could take them has changed. */
export class WaitingCalls {
  readonly #engine: Pick<CallEngine, 'route'>;
  readonly #repository: CallRepository;
  readonly #index: CallIndex;
  readonly #router: Router;
  readonly #facts: (instanceId: string) => InstanceFacts | undefined;

  constructor(deps: {
    engine: Pick<CallEngine, 'route'>;
    repository: CallRepository;
    index: CallIndex;
    router: Router;
    facts(instanceId: string): InstanceFacts | undefined;
  }) {
    this.#engine = deps.engine;
    this.#repository = deps.repository;
    this.#index = deps.index;
    this.#router = deps.router;
    this.#facts = deps.facts;
  }

  /** What waits for any client, or for one that has left. */
  offerAll(): void {
    const left = this.#index.unclaimed().filter((id) => {
      const instanceId = this.#repository.latest(id)?.provider?.instanceId;
      return instanceId !== undefined && !this.#facts(instanceId);
    });
    for (const call of this.#latest([...left, ...this.#index.queued()])) this.#engine.route(call);
  }

  /** A person is asked again about what was approved for a client that has left meanwhile. */
  askAgain(): void {
    for (const call of this.#latest(this.#index.queued())) {
      if (call.routing.approval !== null) this.#engine.route(call);
    }
  }

  /** What this instance was offered, and has not taken, under other terms of its tool. */
  offerChanged(instanceId: string): void {
    for (const call of this.#latest(this.#index.pinnedTo(instanceId))) {
      const isUntaken = call.phase === 'offered' && !call.granted;
      if (isUntaken && this.#router.isOfferOutdated(call, instanceId)) this.#engine.route(call);
    }
  }

  #latest(ids: readonly string[]): CallRecord[] {
    return ids.flatMap((id) => this.#repository.latest(id) ?? []);
  }
}
