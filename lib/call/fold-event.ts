import type { Card } from '../protocol/card.ts';
import type { CallEventEntry } from './call-event.ts';
import type { CallRecord } from './call-record.ts';
import { mergeCard } from './merge-card.ts';

/** The call after one more of its events. */
export const foldEvent = (call: CallRecord, event: CallEventEntry): CallRecord => ({
  ...call,
  ...event.patch,
  version: event.version,
  card: mergeCard(call.card, event.update),
});

/**
 * One event in the place of two that follow each other: it folds to what both
 * fold to, which is `card`. What is shown of both is what the card shows of them.
 */
export function joinEvents(
  first: CallEventEntry,
  second: CallEventEntry,
  card: Card,
): CallEventEntry {
  const shown: Record<string, unknown> = card;
  const names = new Set([...Object.keys(first.update), ...Object.keys(second.update)]);
  if (card.truncated !== undefined) names.add('truncated'); // Follows from other names, too.
  return {
    ...second,
    patch: { ...first.patch, ...second.patch },
    update: Object.fromEntries([...names].map((name) => [name, shown[name]])),
  };
}
