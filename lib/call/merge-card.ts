import type { z } from 'zod';
import { cutJson, cutRecord, wholeBytes } from '../json/cut-json.ts';
import { cutToBytes } from '../json/cut-to-bytes.ts';
import { sameJson } from '../json/equal.ts';
import { fitsJson } from '../json/measure-json.ts';
import type { CardStatus } from '../protocol/call-status.ts';
import type { Card, CardUpdate, progressSchema } from '../protocol/card.ts';
import { given as givenOf } from '../util/given.ts';

export type Progress = z.infer<typeof progressSchema>;

const RANK: Record<CardStatus, number> = { WAIT: 0, DOING: 1, SUCCESS: 2, ERROR: 2 };

export const isFinalCard = (card: Pick<Card, 'status'>): boolean =>
  card.status === 'SUCCESS' || card.status === 'ERROR';

/**
 * Merges one update into a card (contract, section 2; rules CM1 to CM7, CM11, CM13).
 *
 * Pure and shared: the server folds updates to answer late joiners, the browser
 * folds the same updates to paint cards, and both agree because they run this.
 * Returns `card` itself when the update changes nothing, so that a repeated
 * update never renders a card again. It knows nothing of sequence numbers; the
 * log that carries the updates does.
 */
export function mergeCard(card: Card | undefined, update: CardUpdate): Card {
  if (!card) return { ...ownFields(update), params: mergeParams({}, update.params) };
  if (isFinalCard(card))
    return update.late_result && !card.late_result ? { ...card, late_result: true } : card; // CM5

  const given = ownFields(update);
  // CM11: whole arguments replace what was shown; all else adds to it.
  const shown = update.params_whole && update.params ? {} : card.params;
  const next: Card = { ...card, ...given, params: mergeParams(shown, update.params) };
  if (update.status_params) {
    next.status_params = mergeParams(card.status_params ?? {}, update.status_params);
  }
  if (update.progress) next.progress = mergeProgress(card.progress, update.progress);
  const hasStaleSize = takeBackSizes(next, card, given);
  if (goesBack(card, update)) keepStatus(next, card);
  return !hasStaleSize && changesNothing(card, next, given) ? card : next;
}

/** CM13. Such an update was made for a card that had the whole, e.g. no summary of it. */
function takeBackSizes(next: Card, card: Card, given: CardUpdate): boolean {
  const stale = SIZED.filter(
    ([value, size]) =>
      typeof card[size] === 'number' &&
      given[size] === undefined &&
      given[value] !== undefined &&
      (value !== 'params' || given.params_whole === true),
  );
  for (const [, size] of stale) next[size] = null;
  if (stale.length > 0) next.truncated = SIZED.some(([, size]) => typeof next[size] === 'number');
  return stale.length > 0;
}

const SIZED = [
  ['params', 'params_bytes'],
  ['result', 'result_bytes'],
  ['preview', 'preview_bytes'],
  ['error', 'error_bytes'],
] as const;

/** The update's given fields. A field that is present but undefined was not given (CM3). */
function ownFields(update: CardUpdate): CardUpdate {
  for (const name in update) {
    if (update[name as keyof CardUpdate] === undefined) return givenOf(update);
  }
  return update;
}

/** CM1. A null prototype would not survive a clone, so `__proto__` is left out instead. */
function mergeParams(
  before: Record<string, unknown>,
  given: Record<string, unknown> | undefined,
): Record<string, unknown> {
  if (!given) return before;
  const next = { ...before };
  for (const key in given) if (key !== '__proto__') next[key] = given[key];
  return next;
}

/** CM2: never falls. The newer total counts, and stays when none is given. */
function mergeProgress(before: Progress | undefined, given: Progress): Progress {
  const done = Math.max(before?.done ?? 0, given.done);
  const total = given.total ?? before?.total;
  return total === undefined ? { done } : { done, total };
}

function goesBack(card: Card, update: CardUpdate): boolean {
  return (
    card.status !== undefined &&
    update.status !== undefined &&
    RANK[update.status] < RANK[card.status]
  );
}

/** CM4. A late WAIT still tells parameters or a tip, but not a status. */
function keepStatus(next: Card, { status, phase }: Card): void {
  if (status !== undefined) next.status = status;
  if (phase !== undefined) next.phase = phase;
}

/** CM6. Only what was given can differ, so only that is compared. */
function changesNothing(before: Card, after: Card, given: CardUpdate): boolean {
  for (const name in given) {
    const key = name as keyof CardUpdate;
    if (!sameJson(before[key], after[key])) return false;
  }
  return true;
}

/**
 * Two updates as one, with the same effect on any card that has seen neither.
 * Holds for what this server publishes, where no status goes back.
 */
export function mergeUpdates(first: CardUpdate, second: CardUpdate): CardUpdate {
  const { params, ...rest } = mergeCard({ ...first, params: first.params ?? {} }, second);
  return first.params || second.params ? { ...rest, params } : rest;
}

/** A larger value is shown by its beginning (contract, sections 6 and 8); bytes of JSON. */
export const SHOWN_WHOLE_BYTES = 16 * 1024;
/** The beginning of one that is larger. */
const PREVIEW_BYTES = 2 * 1024;

interface Bounds {
  /** A value with more bytes of JSON is shown by its beginning. */
  readonly wholeBytes: number;
  readonly previewBytes: number;
}

const SHOWN: Bounds = { wholeBytes: SHOWN_WHOLE_BYTES, previewBytes: PREVIEW_BYTES };
/** In a summary, which stands among hundreds of others. */
const SUMMARY_BYTES = 1_000;

export interface Cut {
  readonly preview: unknown;
  /** The whole has so many: a text as it is, anything else as JSON. */
  readonly bytes: number;
}

/** A preview of a value over the limit; undefined when it may be shown whole. */
export const cutLarge = (value: unknown): Cut | undefined =>
  isSmall(value) ? undefined : { preview: cutJson(value, PREVIEW_BYTES), bytes: wholeBytes(value) };

const isSmall = (value: unknown, { wholeBytes: most } = SHOWN): boolean => fitsJson(value, most);

/**
 * The update as watchers get it (rules CM8 to CM10): of a value over the limit a
 * preview, with the size of the whole, which the call's record has. `card` is
 * what the update will be merged into: a size that it has and that does not hold
 * any more is taken back.
 */
export function boundUpdate(
  card: Card | undefined,
  update: CardUpdate,
  bounds = SHOWN,
): CardUpdate {
  if (!BOUNDED.some((name) => update[name] != null)) return update;
  const sizes = sizesOf(card, update, bounds);
  const isTruncated = SIZES.some(
    (name) => typeof (sizes[name] === undefined ? card?.[name] : sizes[name]) === 'number',
  );
  const wasTruncated = update.truncated ?? card?.truncated ?? false;
  // Most updates are small: nothing is cut, and no size is given or taken back.
  const isWhole = SIZES.every((name) => sizes[name] === undefined);
  if (isWhole && isTruncated === wasTruncated) return update;
  return {
    ...update,
    ...givenOf(sizes),
    ...cutValues(update, sizes, bounds),
    ...(isTruncated === wasTruncated ? {} : { truncated: isTruncated }),
  };
}

/** A card that was made elsewhere, e.g. before there were previews. */
export const boundCard = (card: Card): Card => withParams(boundUpdate(undefined, card));

const withParams = (update: CardUpdate): Card => ({ ...update, params: update.params ?? {} });

/**
 * The card as a long list has it (rule CM12): of each value over `most` bytes the
 * beginning, marked as any other. Its tip and what its client reported are cut, too.
 */
export function summaryOfCard(card: Card, most = SUMMARY_BYTES): Card {
  const bounds = { wholeBytes: most, previewBytes: most };
  const summary = withParams(boundUpdate(undefined, card, bounds));
  const { tip, status_params } = summary;
  return {
    ...summary,
    ...(tip && { tip: cutToBytes(tip, most) }),
    ...(status_params && { status_params: cutRecord(status_params, most) }),
  };
}

const BOUNDED = ['params', 'result', 'preview', 'error'] as const;
const SIZES = ['params_bytes', 'result_bytes', 'preview_bytes', 'error_bytes'] as const;
type Sizes = Pick<CardUpdate, (typeof SIZES)[number]>;

function sizesOf(card: Card | undefined, update: CardUpdate, bounds: Bounds): Sizes {
  const sizeOf = (name: keyof Sizes, value: unknown) => {
    if (value === undefined || typeof update[name] === 'number') return update[name];
    if (!isSmall(value, bounds)) return wholeBytes(value);
    // Some of the arguments say nothing of the others.
    const isReplaced = name !== 'params_bytes' || update.params_whole === true;
    return isReplaced && typeof card?.[name] === 'number' ? null : undefined;
  };
  return {
    params_bytes: sizeOf('params_bytes', update.params),
    result_bytes: sizeOf('result_bytes', update.result),
    preview_bytes: sizeOf('preview_bytes', update.preview),
    error_bytes: sizeOf('error_bytes', update.error),
  };
}

function cutValues(
  { params, result, preview, error, partial }: CardUpdate,
  sizes: Sizes,
  { previewBytes }: Bounds,
) {
  // Arguments that are still being written go on at their end.
  const keep = partial ? 'end' : 'start';
  return givenOf({
    params: params && sizes.params_bytes ? cutRecord(params, previewBytes, keep) : params,
    result: sizes.result_bytes ? cutJson(result, previewBytes) : result,
    preview: sizes.preview_bytes ? cutJson(preview, previewBytes) : preview,
    error:
      error && sizes.error_bytes
        ? { ...error, message: cutToBytes(error.message, previewBytes) }
        : error,
  });
}
