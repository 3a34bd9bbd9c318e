import type { Call } from '#lib/call/call';
import type { NeverStarted } from '#lib/call/call-state';

interface PendingReoffer {
  /** The attempt before, which is given up (CB8). */
  readonly attempt: number;
  /** It, where the client's journal proves that it was never started. */
  readonly neverStarted: NeverStarted | undefined;
}

/** Calls that an instance, which has come back, is to be offered again once it has registered the tool. */
export class PendingReoffers {
  readonly #byInstance = new Map<string, Map<string, PendingReoffer>>();

  add({ id, provider }: Call, neverStarted: NeverStarted | undefined): void {
    if (!provider) return;
    const calls = this.#byInstance.get(provider.instanceId) ?? new Map<string, PendingReoffer>();
    calls.set(id, { attempt: provider.attempt, neverStarted });
    this.#byInstance.set(provider.instanceId, calls);
  }

  /** True when the instance is to get this call under a newer attempt. */
  hasGivenUp(instanceId: string, callId: string, attempt: number): boolean {
    return attempt <= (this.#byInstance.get(instanceId)?.get(callId)?.attempt ?? 0);
  }

  /** Each is tried once, and stays until `offer` answers true. */
  offerAll(
    instanceId: string,
    offer: (callId: string, neverStarted: NeverStarted | undefined) => boolean,
  ): void {
    const calls = this.#byInstance.get(instanceId);
    if (!calls) return;
    for (const [id, { neverStarted }] of calls) if (offer(id, neverStarted)) calls.delete(id);
    if (calls.size === 0) this.#byInstance.delete(instanceId);
  }

  drop(instanceId: string): void {
    this.#byInstance.delete(instanceId);
  }

  /** One that was offered again, here or elsewhere, or has ended is no longer to be. */
  follow({ id, provider, completedAt }: Call, previous: Call | undefined): void {
    const asked = previous?.provider;
    if (!asked) return;
    const isSame = provider?.instanceId === asked.instanceId && provider.attempt === asked.attempt;
    if (isSame && completedAt === undefined) return;
    const calls = this.#byInstance.get(asked.instanceId);
    if (calls?.delete(id) && calls.size === 0) this.#byInstance.delete(asked.instanceId);
  }
}
