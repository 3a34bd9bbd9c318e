import type { Card } from '#lib/protocol/card';
import type { Whole } from '../result/part-note.tsx';
import type { CardActions } from './card-actions.ts';
import { type CardPart, wholeBytesOf } from './whole-value.ts';

/** How the whole of that value is had; undefined when the card has all of it. */
export function wholeFor(
  callId: string,
  card: Card,
  part: CardPart,
  actions: Pick<CardActions, 'showWhole' | 'download'>,
): Whole | undefined {
  const bytes = wholeBytesOf(card, part);
  if (bytes === null) return undefined;
  return {
    bytes,
    open: () => actions.showWhole(callId, part),
    download: () => actions.download(callId, part),
  };
}
