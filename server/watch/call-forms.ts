import { summaryOfCard } from '#lib/call/bound-card';
import type { Snapshot } from '#lib/protocol/watch-messages';
import type { ShownCall } from '../calls/room.ts';
import type { Form } from './fit-into-room.ts';

export type WatchedCall = Snapshot['calls'][number];

/** Of each value of a call, where there is hardly any room. */
const LEAST_BYTES = 100;

export const asWhole = ({ id, runId, card }: ShownCall): WatchedCall => toWatched(id, runId, card);

export const asSummary = ({ id, runId, card }: ShownCall): WatchedCall =>
  toWatched(id, runId, summaryOf(card));

/** Little more than its name and its state. */
export const asLeast = ({ id, runId, card }: ShownCall): WatchedCall =>
  toWatched(id, runId, summaryOfCard(summaryOf(card), LEAST_BYTES));

/** Whole cards, then summaries, then the least. */
export const formsWithin = (
  room: number,
  wholeBytes = room / 4,
): readonly Form<ShownCall, WatchedCall>[] => [
  { show: asWhole, upTo: wholeBytes },
  { show: asSummary, upTo: (room / 4) * 3 },
  { show: asLeast, upTo: room },
];

const toWatched = (id: string, runId: string, card: WatchedCall['card']): WatchedCall => ({
  tool_call_id: id,
  run_id: runId,
  card,
});

/** Cards do not change: the summary of one is made once. */
const summaries = new WeakMap<ShownCall['card'], ShownCall['card']>();

function summaryOf(card: ShownCall['card']): ShownCall['card'] {
  const summary = summaries.get(card) ?? summaryOfCard(card);
  summaries.set(card, summary);
  return summary;
}
