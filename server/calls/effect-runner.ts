import type { CallRecord } from '#lib/call/call-record';
import type { Effect } from '#lib/call/effects';
import type { PendingReoffers } from './pending-reoffers.ts';
import type { ToolProvider, ToolProviders } from './tool-provider.ts';

/** Does what a decision asks for, once what it waits for is on disk. It decides nothing. */
export class EffectRunner {
  readonly #providers: ToolProviders;
  readonly #reoffers: PendingReoffers;

  constructor(deps: { providers: ToolProviders; reoffers: PendingReoffers }) {
    this.#providers = deps.providers;
    this.#reoffers = deps.reoffers;
  }

  run(effect: Effect, call: CallRecord): void {
    switch (effect.type) {
      case 'request':
        // fault point: before-offer
        this.#providerOf(call).start(call);
        // fault point: offered
        return;
      case 'run':
        return this.#providerOf(call).start(call);
      case 'stop':
        return this.#providerOf(call).stop(call, effect.reason);
      case 'reoffer':
        return this.#reoffers.add(call, effect.neverStarted);
      case 'grant':
      case 'route':
        // Answered by who claimed; done by the engine within the write.
        return;
    }
  }

  #providerOf({ id, toolProvider }: CallRecord): ToolProvider {
    const provider = this.#providers.get(toolProvider);
    if (!provider) throw new Error(`The call ${id} is for ${toolProvider}, which is not here`);
    return provider;
  }
}
