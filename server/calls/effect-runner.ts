import type { Call } from '#lib/call/call';
import type { Effect } from '#lib/call/effects';
import { type CallExecutors, executorOf } from './call-executor.ts';
import type { PendingReoffers } from './pending-reoffers.ts';

/** Does what a decision asks for, once what it waits for is on disk. It decides nothing. */
export class EffectRunner {
  readonly #executors: CallExecutors;
  readonly #reoffers: PendingReoffers;

  constructor(deps: { executors: CallExecutors; reoffers: PendingReoffers }) {
    this.#executors = deps.executors;
    this.#reoffers = deps.reoffers;
  }

  run(effect: Effect, call: Call): void {
    switch (effect.type) {
      case 'request':
        // fault point: before-offer
        executorOf(this.#executors, call).start(call);
        // fault point: offered
        return;
      case 'run':
        return executorOf(this.#executors, call).start(call);
      case 'stop':
        return executorOf(this.#executors, call).stop(call, effect.reason);
      case 'reoffer':
        return this.#reoffers.add(call, effect.neverStarted);
      case 'grant':
      case 'route':
        // Answered by who claimed; done by the engine within the write.
        return;
    }
  }
}
