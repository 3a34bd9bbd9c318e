import type { CallEventEntry } from '../call-event.ts';
import type { CallRecord } from '../call-record.ts';
import { mergeCard } from '../merge-card.ts';

/** The call after one more of its events. */
export const foldEvent = (call: CallRecord, event: CallEventEntry): CallRecord => ({
  ...call,
  ...event.patch,
  version: event.version,
  card: mergeCard(call.card, event.update),
});
