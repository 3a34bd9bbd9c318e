import type { Call } from '#lib/call/call';
import type { CallParts } from './call-parts.ts';

/** No more sub-agents than that stand above each other. */
const MOST_ABOVE = 16;

/** Stops the time of calls while calls that work for them, at any depth, wait for a person (CA61). */
export class WaitingBelow {
  readonly #parts: () => CallParts;
  /** By the call that they work for. */
  readonly #waiting = new Map<string, Set<string>>();
  /** The calls that wait have it. One that ends later may stand below calls that are forgotten by then. */
  readonly #above = new Map<string, readonly string[]>();

  constructor(parts: () => CallParts) {
    this.#parts = parts;
  }

  update(call: Call): void {
    const known = this.#above.get(call.id);
    if (waits(call) === (known !== undefined)) return;
    if (known) this.#remove(call.id, known);
    else if (call.parentCallId !== null) this.#add(call.id, this.#idsAbove(call));
  }

  #add(id: string, above: readonly string[]): void {
    this.#above.set(id, above);
    for (const one of above) {
      const others = this.#waiting.get(one) ?? new Set<string>();
      this.#waiting.set(one, others.add(id));
      if (others.size === 1) this.#follow(one);
    }
  }

  #remove(id: string, above: readonly string[]): void {
    this.#above.delete(id);
    for (const one of above) {
      const others = this.#waiting.get(one);
      if (!others?.delete(id) || others.size > 0) continue;
      this.#waiting.delete(one);
      this.#follow(one);
    }
  }

  /** Not within the decision that it follows from. */
  #follow(id: string): void {
    queueMicrotask(() => {
      const { repository, engine, isStopped } = this.#parts();
      const call = isStopped ? undefined : repository.latest(id);
      if (!call) return;
      const isWaiting = this.#waiting.has(id);
      engine.apply(call, { type: 'below_waits', isWaiting }, 'server');
    });
  }

  #idsAbove({ parentCallId }: Call): readonly string[] {
    const ids: string[] = [];
    const { repository } = this.#parts();
    let next = parentCallId;
    while (next !== null && ids.length < MOST_ABOVE) {
      ids.push(next);
      next = repository.latest(next)?.parentCallId ?? null;
    }
    return ids;
  }
}

/** For an operator, or for the person at the device. */
const waits = ({ phase }: Call): boolean =>
  phase === 'approval' || phase === 'held' || phase === 'device';
