import type { Provider } from '#lib/call/call-record';
import type { CallClock } from '#lib/protocol/call-status';
import type { Breaker } from './breaker.ts';
import type { CallIndex } from './call-index.ts';
import type { CallRepository } from './call-repository.ts';
import type { CallEngine } from './engine.ts';
import type { InstanceFacts } from './router.ts';

/** What happens when a clock of a call runs out. */
export class ClockEndings {
  readonly #engine: CallEngine;
  readonly #repository: CallRepository;
  readonly #index: CallIndex;
  readonly #breaker: Pick<Breaker, 'failed'>;
  readonly #facts: (instanceId: string) => InstanceFacts | undefined;

  constructor(deps: {
    engine: CallEngine;
    repository: CallRepository;
    index: CallIndex;
    breaker: Pick<Breaker, 'failed'>;
    facts(instanceId: string): InstanceFacts | undefined;
  }) {
    this.#engine = deps.engine;
    this.#repository = deps.repository;
    this.#index = deps.index;
    this.#breaker = deps.breaker;
    this.#facts = deps.facts;
  }

  ranOut(callId: string, clock: CallClock): void {
    const call = this.#repository.latest(callId);
    if (!call) return;
    const { provider, toolName } = call;
    const isKept =
      clock === 'start' &&
      provider !== null &&
      this.#index.isRunning(provider.instanceId, toolName);
    if (provider && !isKept && this.#isFault(clock, provider)) {
      this.#breaker.failed(provider.instanceId, toolName);
    }
    this.#engine.apply(call, { type: 'clock', clock, isKept }, 'server');
  }

  /** A tool that takes too long is no fault of its client; one that does not even answer is. */
  #isFault(clock: CallClock, { instanceId }: Provider): boolean {
    return (
      clock === 'start' || (clock === 'execute' && this.#facts(instanceId)?.responsive === false)
    );
  }
}
