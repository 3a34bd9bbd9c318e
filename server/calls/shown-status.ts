import { boundUpdate } from '#lib/call/bound-card';
import type { Actor } from '#lib/call/call-event';
import { mergeCard } from '#lib/call/merge-card';
import { mergeUpdates } from '#lib/call/merge-updates';
import type { CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { CallEntry } from './call-repository.ts';
import type { EventBatch } from './event-batch.ts';

/** Takes an update into what has been decided. As people see it; undefined when that changes nothing. */
export function takeIn(entry: CallEntry, update: CardUpdate): CardUpdate | undefined {
  const { latest } = entry;
  if (isFinalStatus(latest.status)) return undefined;
  const bounded = boundUpdate(latest.card, update);
  const card = mergeCard(latest.card, bounded);
  // Of two previews that begin alike and are equally long, the card is the same.
  if (card === latest.card && typeof bounded.preview_bytes !== 'number') return undefined;
  const { preview = latest.preview } = update;
  entry.latest = { ...latest, card, preview };
  return bounded;
}

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
