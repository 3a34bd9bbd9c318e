import type { CallRecord } from '#lib/call/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';

/** Which open calls wait for a client, and which are pinned to which instance. */
export interface CallIndex {
  update(record: CallRecord, previous: CallRecord | undefined): void;
  /** Calls that no client has been offered, oldest first. */
  queued(): readonly string[];
  /** Calls that were offered to a client that has not claimed them, oldest first. */
  unclaimed(): readonly string[];
  pinnedTo(instanceId: string): readonly string[];
  openOfRun(runId: string): readonly string[];
  readonly openCount: number;
}

export function createCallIndex(): CallIndex {
  const queued = new Set<string>();
  const unclaimed = new Set<string>();
  const byInstance = new Map<string, Set<string>>();
  const byRun = new Map<string, Set<string>>();
  let openCount = 0;

  function update(record: CallRecord, previous: CallRecord | undefined): void {
    const open = !isFinalStatus(record.status);
    if (!previous && open) openCount += 1;
    if (previous && !isFinalStatus(previous.status) && !open) openCount -= 1;
    if (open && record.phase === 'queued' && record.source === 'client') queued.add(record.id);
    else queued.delete(record.id);
    if (open && record.phase === 'offered' && !record.granted) unclaimed.add(record.id);
    else unclaimed.delete(record.id);
    const [was, is] = [
      previous?.provider?.instanceId,
      open ? record.provider?.instanceId : undefined,
    ];
    if (was !== undefined && was !== is) remove(byInstance, was, record.id);
    if (is !== undefined && was !== is) add(byInstance, is, record.id);
    if (!previous && open) add(byRun, record.runId, record.id);
    else if (!open) remove(byRun, record.runId, record.id);
  }

  return {
    update,
    queued: () => [...queued],
    unclaimed: () => [...unclaimed],
    pinnedTo: (instanceId) => [...(byInstance.get(instanceId) ?? [])],
    openOfRun: (runId) => [...(byRun.get(runId) ?? [])],
    get openCount() {
      return openCount;
    },
  };
}

function add(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key);
  if (ids) ids.add(id);
  else index.set(key, new Set([id]));
}

function remove(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key);
  if (ids?.delete(id) && ids.size === 0) index.delete(key);
}
