import type { WireCallRecord } from '#lib/protocol/call-record';
import type { Card } from '#lib/protocol/card';

/** The values of a card that may be shown by their beginning. */
export type CardPart = 'arguments' | 'result' | 'preview' | 'error';

/** Bytes of the whole, when the card has the beginning alone. */
export function wholeBytesOf(card: Card, part: CardPart): number | null {
  switch (part) {
    case 'arguments':
      return card.params_bytes ?? null;
    case 'result':
      return card.result_bytes ?? null;
    case 'preview':
      return card.preview_bytes ?? null;
    case 'error':
      return card.error_bytes ?? null;
  }
}

/** The whole of it, as people are shown it: of a result the display, where there is one. */
export function wholeOf(call: WireCallRecord, part: CardPart): unknown {
  switch (part) {
    case 'arguments':
      return call.args;
    case 'result':
      return call.display === undefined ? call.result : call.display;
    case 'preview':
      return call.preview;
    case 'error':
      return call.error?.message;
  }
}

/** Of the file that it is saved in, without its ending. */
export const fileNameOf = (call: WireCallRecord, part: CardPart): string =>
  part === 'result' ? call.tool_name : `${call.tool_name}-${part}`;
