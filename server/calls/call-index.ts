import type { CallRecord } from '#lib/call/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';

/** Which open calls wait for a client, and which are pinned to which instance. */
export class CallIndex {
  readonly #queued = new Set<string>();
  readonly #unclaimed = new Set<string>();
  readonly #byInstance = new Map<string, Set<string>>();
  readonly #byRun = new Map<string, Set<string>>();
  /** Granted calls, by instance and tool. */
  readonly #running = new Map<string, Set<string>>();
  readonly #open = new Set<string>();

  update(call: CallRecord, previous: CallRecord | undefined): void {
    const { id, phase, source, runId } = call;
    const isOpen = !isFinalStatus(call.status);
    keep(this.#open, id, isOpen);
    keep(this.#queued, id, isOpen && phase === 'queued' && source === 'client');
    keep(this.#unclaimed, id, isOpen && phase === 'offered' && call.provider?.claims === true);
    const was = previous?.provider?.instanceId;
    const is = isOpen ? call.provider?.instanceId : undefined;
    if (was !== is) move(this.#byInstance, id, was, is);
    const ran = previous && runningKey(previous);
    const runs = isOpen ? runningKey(call) : undefined;
    if (ran !== runs) move(this.#running, id, ran, runs);
    if (!previous || !isOpen) move(this.#byRun, id, runId, isOpen ? runId : undefined);
  }

  /** Calls that no client has been offered, oldest first. */
  queued(): readonly string[] {
    return [...this.#queued];
  }

  /** Calls that were offered to a client that has not claimed them, oldest first. */
  unclaimed(): readonly string[] {
    return [...this.#unclaimed];
  }

  pinnedTo(instanceId: string): readonly string[] {
    return [...(this.#byInstance.get(instanceId) ?? [])];
  }

  holdsCalls(instanceId: string): boolean {
    return this.#byInstance.has(instanceId);
  }

  /** Whether the instance has a call of this tool that was granted. */
  isRunning(instanceId: string, toolName: string): boolean {
    return this.#running.has(`${instanceId}\n${toolName}`);
  }

  openOfRun(runId: string): readonly string[] {
    return [...(this.#byRun.get(runId) ?? [])];
  }

  get openCount(): number {
    return this.#open.size;
  }
}

const runningKey = ({ provider, granted, toolName }: CallRecord): string | undefined =>
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
