import type { Actor } from '#lib/call/call-event';
import { mergeUpdates } from '#lib/call/merge-updates';
import type { CardUpdate } from '#lib/protocol/card';
import type { CallEntry } from './call-repository.ts';
import type { EventBatch } from './event-batch.ts';

/** It waits for the next event, as one with what waits already. */
export function joinStatus(entry: CallEntry, update: CardUpdate, from: Actor): void {
  const { pendingStatus } = entry;
  entry.pendingStatus = pendingStatus ? mergeUpdates(pendingStatus, update) : update;
  entry.statusFrom = from;
}

/** What its tool has shown since the last event goes with the next one. */
export function takeStatus(entry: CallEntry, batch: EventBatch, now: number): void {
  const { pendingStatus, statusFrom, statusPace, stopStatus } = entry;
  stopStatus?.();
  entry.stopStatus = undefined;
  entry.pendingStatus = undefined;
  if (!pendingStatus) return;
  statusPace.appended(now, pendingStatus, entry.latest.preview);
  batch.addStatus(pendingStatus, statusFrom);
}
