import type { Call, Provider } from '#lib/call/call';
import type { NeverStarted } from '#lib/call/call-state';
import { isFinalStatus } from '#lib/protocol/is-final-status';

interface PendingReoffer {
  /** The attempt before, which is given up (CB8). */
  readonly attempt: number;
  /** It, where the client's journal proves that it was never started. */
  readonly neverStarted: NeverStarted | undefined;
}

/** Which open calls wait for a client or a person, and which are pinned to which instance. */
export class CallIndex {
  /** By the tool and the only client that may take it, with the number at which it began to wait. */
  readonly #waiting = new Map<string, Map<string, number>>();
  #began = 0;
  readonly #bound = new Set<string>();
  readonly #byInstance = new Map<string, Set<string>>();
  readonly #byRun = new Map<string, Set<string>>();
  /** Granted calls, by instance and tool. */
  readonly #running = new Map<string, Set<string>>();
  readonly #open = new Set<string>();
  /** Calls that an instance, which has come back, is to be offered again once it has registered the tool. */
  readonly #reoffers = new Map<string, Map<string, PendingReoffer>>();

  update(call: Call, previous: Call | undefined): void {
    const { id, phase, runId } = call;
    const isOpen = !isFinalStatus(call.status);
    keep(this.#open, id, isOpen);
    this.#wait(id, previous && waitKey(previous), isOpen ? waitKey(call) : undefined);
    keep(this.#bound, id, isOpen && phase === 'queued' && isBound(call));
    const was = previous?.provider?.instanceId;
    const is = isOpen ? call.provider?.instanceId : undefined;
    if (was !== is) move(this.#byInstance, id, was, is);
    const ran = previous && runningKey(previous);
    const runs = isOpen ? runningKey(call) : undefined;
    if (ran !== runs) move(this.#running, id, ran, runs);
    if (!previous || !isOpen) move(this.#byRun, id, runId, isOpen ? runId : undefined);
    if (previous?.provider && this.#reoffers.size > 0) this.#follow(call, previous.provider);
  }

  /**
   * Calls of these tools that wait for any executor, or for this client: those whose client
   * has left before it took them, then those that none was offered, oldest first.
   */
  waitingFor(clientId: string | null, toolNames: Iterable<string>): readonly string[] {
    const found: (readonly [string, number])[][] = [[], []];
    for (const name of toolNames) {
      for (const wanted of new Set([null, clientId])) {
        for (const [place, kind] of KINDS.entries()) {
          found[place]?.push(...(this.#waiting.get(keyOf(kind, name, wanted)) ?? []));
        }
      }
    }
    return found.flatMap((calls) => calls.sort(([, a], [, b]) => a - b)).map(([id]) => id);
  }

  /** Calls that were allowed for some executors alone, and that no client has been offered. */
  bound(): readonly string[] {
    return [...this.#bound];
  }

  pinnedTo(instanceId: string): readonly string[] {
    return [...(this.#byInstance.get(instanceId) ?? [])];
  }

  holdsCalls(instanceId: string): boolean {
    return this.#byInstance.has(instanceId);
  }

  /** True when the instance has a call of this tool that was granted. */
  isRunning(instanceId: string, toolName: string): boolean {
    return this.#running.has(`${instanceId}\n${toolName}`);
  }

  openIds(): readonly string[] {
    return [...this.#open];
  }

  openOfRun(runId: string): readonly string[] {
    return [...(this.#byRun.get(runId) ?? [])];
  }

  addReoffer({ id, provider }: Call, neverStarted: NeverStarted | undefined): void {
    if (!provider) return;
    const calls = this.#reoffers.get(provider.instanceId) ?? new Map<string, PendingReoffer>();
    calls.set(id, { attempt: provider.attempt, neverStarted });
    this.#reoffers.set(provider.instanceId, calls);
  }

  /** True when the instance is to get this call under a newer attempt. */
  hasGivenUp(instanceId: string, callId: string, attempt: number): boolean {
    return attempt <= (this.#reoffers.get(instanceId)?.get(callId)?.attempt ?? 0);
  }

  /** Each is tried once, and stays until `offer` answers true. */
  reofferAll(
    instanceId: string,
    offer: (callId: string, neverStarted: NeverStarted | undefined) => boolean,
  ): void {
    const calls = this.#reoffers.get(instanceId);
    if (!calls) return;
    for (const [id, { neverStarted }] of calls) if (offer(id, neverStarted)) calls.delete(id);
    if (calls.size === 0) this.#reoffers.delete(instanceId);
  }

  dropReoffers(instanceId: string): void {
    this.#reoffers.delete(instanceId);
  }

  /** One that was offered again, here or elsewhere, or has ended is no longer to be. */
  #follow({ id, provider, completedAt }: Call, asked: Provider): void {
    const isSame = provider?.instanceId === asked.instanceId && provider.attempt === asked.attempt;
    if (isSame && completedAt === undefined) return;
    const calls = this.#reoffers.get(asked.instanceId);
    if (calls?.delete(id) && calls.size === 0) this.#reoffers.delete(asked.instanceId);
  }

  #wait(id: string, from: string | undefined, to: string | undefined): void {
    if (from === to) return;
    const left = from === undefined ? undefined : this.#waiting.get(from);
    if (from !== undefined && left?.delete(id) && left.size === 0) this.#waiting.delete(from);
    if (to === undefined) return;
    const others = this.#waiting.get(to) ?? new Map<string, number>();
    this.#began += 1;
    this.#waiting.set(to, others.set(id, this.#began));
  }

  get openCount(): number {
    return this.#open.size;
  }
}

const isBound = ({ routing }: Call): boolean =>
  routing.approval !== null || routing.onlyReads === true;

const KINDS = ['left', 'queued'] as const;

const keyOf = (kind: (typeof KINDS)[number], toolName: string, wanted: string | null): string =>
  JSON.stringify([kind, toolName, wanted]);

/** Undefined for a call that waits for no other executor than the one that has it. */
function waitKey(call: Call): string | undefined {
  const { phase, provider, deadlines, toolName, wantedClientId } = call;
  if (phase === 'queued') return keyOf('queued', toolName, wantedClientId);
  const hasLeft = phase === 'offered' && provider?.claims === true && 'resume' in deadlines;
  return hasLeft ? keyOf('left', toolName, wantedClientId) : undefined;
}

const runningKey = ({ provider, granted, toolName }: Call): string | undefined =>
  provider && granted ? `${provider.instanceId}\n${toolName}` : undefined;

function keep(ids: Set<string>, id: string, isIn: boolean): void {
  if (isIn) ids.add(id);
  else ids.delete(id);
}

function move(
  index: Map<string, Set<string>>,
  id: string,
  from: string | undefined,
  to: string | undefined,
): void {
  const ids = from === undefined ? undefined : index.get(from);
  if (from !== undefined && ids?.delete(id) && ids.size === 0) index.delete(from);
  if (to === undefined) return;
  const others = index.get(to);
  if (others) others.add(id);
  else index.set(to, new Set([id]));
}
