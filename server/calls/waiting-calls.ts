import type { CallRecord } from '#lib/call/call-record';
import type { ToolRegistry } from '../tools/tool-registry.ts';
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
  readonly #registry: Pick<ToolRegistry, 'namesOf'>;

  constructor(deps: {
    engine: Pick<CallEngine, 'route'>;
    repository: CallRepository;
    index: CallIndex;
    router: Router;
    facts(instanceId: string): InstanceFacts | undefined;
    registry: Pick<ToolRegistry, 'namesOf'>;
  }) {
    this.#engine = deps.engine;
    this.#repository = deps.repository;
    this.#index = deps.index;
    this.#router = deps.router;
    this.#facts = deps.facts;
    this.#registry = deps.registry;
  }

  /** What waits for this instance: calls of its tools, and of those that it has just withdrawn. */
  offerTo(instanceId: string, withdrawn: readonly string[]): void {
    const facts = this.#facts(instanceId);
    if (!facts) return;
    const names = new Set([...this.#registry.namesOf(instanceId), ...withdrawn]);
    const ids = this.#index.waitingFor(facts.clientId, names);
    for (const call of this.#latest(ids)) this.#engine.route(call);
  }

  /** What waits for these tools, which run inside the server. */
  insideChanged(names: readonly string[]): void {
    for (const call of this.#latest(this.#index.waitingFor(null, names))) this.#engine.route(call);
  }

  /** A person is asked again about what was allowed for a client that has left meanwhile. */
  askAgain(): void {
    for (const call of this.#latest(this.#index.bound())) this.#engine.route(call);
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
