import type { Call } from '#lib/call/call';
import { summaryOfCard } from '#lib/call/merge-card';
import { estimateJsonBytes } from '#lib/json/measure-json';
import { keepNewest } from '#lib/limits/keep-newest';
import type { Store } from '../store/room.ts';
import type { ShownCall } from './call-service.ts';

export interface EndedLimits {
  /** All ended calls that are kept whole have so many bytes, as estimated. */
  readonly totalBytes: number;
  /** A larger one is read from the store each time. */
  readonly shareBytes: number;
  /** The newest so many are shown to watchers that come late. */
  readonly shown: number;
}

export const ENDED_LIMITS: EndedLimits = {
  totalBytes: 4 * 1024 * 1024,
  shareBytes: 1024 * 1024,
  shown: 200,
};

/** A record weighs so much beside the values that its tool, its caller and its client chose. */
const RECORD_BYTES = 4 * 1024;

/** A larger card is kept as a summary, when it is kept without its record. */
const CARD_BYTES = 8 * 1024;

/** About how many bytes a record takes; some number above `most` once it is more than that. */
export function estimateRecordBytes(record: Call, most: number): number {
  const { args, result, display, preview, lateResult, attachments, error, card } = record;
  const values = [args, result, display, preview, lateResult, attachments, error];
  return RECORD_BYTES + estimateJsonBytes([...values, card.status_params, card.tip], most);
}

/**
 * Which calls that have ended stay in memory (rule CA21): whole ones by their
 * bytes, the newest first, and of the newest few at least what a snapshot shows.
 * `forget` is called for each that is not kept whole any more.
 */
export function createEndedCalls(limits: EndedLimits, forget: (id: string) => void) {
  const bytesById = new Map<string, number>();
  const shown = new Map<string, ShownCall>();
  let total = 0;

  function release(id: string): void {
    total -= bytesById.get(id) ?? 0;
    bytesById.delete(id);
    const call = shown.get(id);
    if (call) shown.set(id, lighter(call));
    forget(id);
  }

  function show(call: ShownCall): void {
    shown.set(call.id, call);
    keepNewest(shown, limits.shown);
  }

  return {
    /** One that is shown, and not kept whole. */
    show,
    /** Also one that was taken before, and has a late result since. */
    take(record: Call): void {
      const { id } = record;
      show(toShown(record));
      const bytes = estimateRecordBytes(record, limits.shareBytes);
      total += bytes - (bytesById.get(id) ?? 0);
      bytesById.set(id, bytes);
      if (bytes > limits.shareBytes) release(id);
      for (const oldest of bytesById.keys()) {
        if (total <= limits.totalBytes) break;
        release(oldest);
      }
    },
    /** It is not in the store any more. */
    drop(id: string): void {
      shown.delete(id);
      release(id);
    },
    has: (id: string): boolean => bytesById.has(id) || shown.has(id),
    /** The newest, in the order of their ends. */
    shown: (): ShownCall[] => [...shown.values()],
  };
}

const toShown = ({ id, runId, createdAt, card }: Call): ShownCall => ({
  id,
  runId,
  createdAt,
  card,
});

/** It is shown so while its record is not in memory. */
export const toShownAlone = (record: Call): ShownCall => lighter(toShown(record));

const lighter = (call: ShownCall): ShownCall =>
  estimateJsonBytes(call.card, CARD_BYTES) > CARD_BYTES
    ? { ...call, card: summaryOfCard(call.card) }
    : call;

/** The newest `count` calls in the store, newest first; never more than a page of them at a time. */
export async function* readRecent(
  store: Pick<Store, 'listCalls'>,
  { runId, count }: { readonly runId?: string; readonly count: number },
): AsyncGenerator<Call> {
  let left = count;
  let cursor: string | null | undefined;
  while (left > 0 && cursor !== null) {
    const page = await store.listCalls({
      limit: left, // A page has no more than its most, whatever is asked for.
      ...(runId === undefined ? {} : { runId }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield* page.calls;
    left -= page.calls.length;
    cursor = page.nextCursor;
  }
}
