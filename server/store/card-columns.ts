import type { CallRecord } from '#lib/call/call-record';
import type { Card } from '#lib/protocol/card';
import type { ColumnCodec } from './column-codec.ts';
import { fromJsonColumn } from './json-column.ts';
import type { ToolCallRow } from './tables.ts';

const SHOWS_ARGS = 1;
const SHOWS_RESULT = 2;
const SHOWS_DISPLAY = 4;
const SHOWS_PREVIEW = 8;

/** In rows of before 004 the card has with it what has columns of its own since. */
type StoredCard = Card & { whole?: { display?: unknown; preview?: unknown } };

/** A card mostly repeats values of the call that may be large: `card_shows` says which it leaves out. */
export const cardCodec: ColumnCodec<Card> = {
  columns: ['card', 'card_shows'],
  write(row, card, { args, result, display, preview }) {
    const { params, ...rest } = card;
    const showsArgs = hasSameEntries(params, args);
    const showsResult = result !== undefined && Object.is(rest.result, result);
    const showsDisplay = display !== undefined && Object.is(rest.result, display);
    const showsPreview = preview !== undefined && Object.is(rest.preview, preview);
    const stored: Partial<Card> = {
      ...(showsArgs ? rest : card),
      ...(showsResult || showsDisplay ? { result: undefined } : {}),
      ...(showsPreview ? { preview: undefined } : {}),
    };
    const shows =
      (showsArgs ? SHOWS_ARGS : 0) +
      (showsResult ? SHOWS_RESULT : 0) +
      (showsDisplay ? SHOWS_DISPLAY : 0) +
      (showsPreview ? SHOWS_PREVIEW : 0);
    row.push(JSON.stringify(stored), shows);
  },
  /** As it is stored: `showWhole` puts in what it leaves out. */
  read(row) {
    const { whole: _, ...card } = fromJsonColumn<StoredCard>(row.card);
    return card;
  },
};

type Shown = Pick<CallRecord, 'args' | 'result' | 'display' | 'preview'>;

/** The card with the values of its call that it shows. */
export function showWhole(card: Card, shows: number, call: Shown): Card {
  return {
    ...card,
    ...(shows & SHOWS_ARGS ? { params: { ...call.args } } : {}),
    ...(shows & SHOWS_RESULT ? { result: call.result } : {}),
    ...(shows & SHOWS_DISPLAY ? { result: call.display } : {}),
    ...(shows & SHOWS_PREVIEW ? { preview: call.preview } : {}),
  };
}

export const readDisplay = (row: ToolCallRow): unknown =>
  row.display === null ? older(row)?.display : fromJsonColumn(row.display);

export const readPreview = (row: ToolCallRow): unknown =>
  row.preview === null ? older(row)?.preview : fromJsonColumn(row.preview);

/** Rows of before 004 have no version. */
const older = (row: ToolCallRow): StoredCard['whole'] =>
  row.version === null ? fromJsonColumn<StoredCard>(row.card).whole : undefined;

/** One level deep and by identity, as the merging of cards keeps the values. */
export function hasSameEntries(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
): boolean {
  if (a === b) return true;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && Object.is(a[key], b[key]))
  );
}
