import { cutJson, cutRecord, fitsJson, wholeBytes } from '../json/cut-json.ts';
import { cutToBytes } from '../json/cut-to-bytes.ts';
import type { Card, CardUpdate } from '../protocol/card.ts';

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
    ...given(sizes),
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
  return given({
    params: params && sizes.params_bytes ? cutRecord(params, previewBytes, keep) : params,
    result: sizes.result_bytes ? cutJson(result, previewBytes) : result,
    preview: sizes.preview_bytes ? cutJson(preview, previewBytes) : preview,
    error:
      error && sizes.error_bytes
        ? { ...error, message: cutToBytes(error.message, previewBytes) }
        : error,
  });
}

const given = (update: CardUpdate): CardUpdate =>
  Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined));
