import type { Call } from '#lib/call/call';
import type { ToolRegistry } from '../tools/room.ts';
import type { CallIndex } from './call-index.ts';
import type { CallRepository } from './call-repository.ts';
import type { CallEngine } from './engine.ts';
import type { InstanceFacts, Router } from './router.ts';

export interface WaitingCallsDeps {
  readonly engine: Pick<CallEngine, 'route'>;
  readonly repository: CallRepository;
  readonly index: CallIndex;
  readonly router: Router;
  readonly registry: Pick<ToolRegistry, 'namesOf'>;
  facts(instanceId: string): InstanceFacts | undefined;
}

/** Offers calls that wait, when who could take them has changed. */
export class WaitingCalls {
  readonly #deps: WaitingCallsDeps;

  constructor(deps: WaitingCallsDeps) {
    this.#deps = deps;
  }

  /** Offers what waits for this instance: calls of its tools, and of those that it has just withdrawn. */
  offerTo(instanceId: string, withdrawn: readonly string[]): void {
    const facts = this.#deps.facts(instanceId);
    if (!facts) return;
    const names = new Set([...this.#deps.registry.namesOf(instanceId), ...withdrawn]);
    const ids = this.#deps.index.waitingFor(facts.clientId, names);
    for (const call of this.#latest(ids)) this.#deps.engine.route(call);
  }

  /** Starts what waits for these tools, which run inside the server. */
  insideChanged(names: readonly string[]): void {
    for (const call of this.#latest(this.#deps.index.waitingFor(null, names)))
      this.#deps.engine.route(call);
  }

  /** A person is asked again about what was allowed for a client that has left meanwhile. */
  askAgain(): void {
    for (const call of this.#latest(this.#deps.index.bound())) this.#deps.engine.route(call);
  }

  /** Routes anew what this instance was offered, and has not taken, under other terms of its tool. */
  offerChanged(instanceId: string): void {
    for (const call of this.#latest(this.#deps.index.pinnedTo(instanceId))) {
      const isUntaken = call.phase === 'offered' && !call.granted;
      if (isUntaken && this.#deps.router.isOfferOutdated(call, instanceId))
        this.#deps.engine.route(call);
    }
  }

  #latest(ids: readonly string[]): Call[] {
    return ids.flatMap((id) => this.#deps.repository.latest(id) ?? []);
  }
}
