import { StoreBusyError } from './store-errors.ts';

/**
 * When the words of final calls are indexed, for the search over the history.
 * Writing words is several times dearer than writing the call, so it is not done
 * with the write: a final call is noted in `calls_to_index` by the same
 * transaction, and its words follow within a moment, under load too, or at the
 * latest before a search. An open call is not found by its words.
 */
export interface TextIndex {
  /**
   * Indexes what waits, in small steps between which calls are written. Rejects
   * with `StoreBusyError` when there is more than fits into `limitMs`.
   */
  catchUp(limitMs: number): Promise<void>;
  /** Something was written: there may be words to index. */
  touched(): void;
  close(): void;
}

export function createTextIndex(deps: {
  /** Indexes some of what waits; whether there is more. */
  indexSome(): Promise<boolean>;
  /** Calls back a moment later, so that many calls are indexed together; returns its undo. */
  scheduleIndexing(work: () => void): () => void;
}): TextIndex {
  let closed = false;
  let cancel: (() => void) | undefined;

  async function catchUp(limitMs: number): Promise<void> {
    const end = performance.now() + limitMs;
    while (!closed && (await deps.indexSome())) {
      if (performance.now() < end) continue;
      touched(); // It goes on, without anyone waiting for it.
      throw new StoreBusyError('the words of many calls are still being indexed');
    }
  }

  function touched(): void {
    if (closed || cancel) return;
    cancel = deps.scheduleIndexing(() => {
      cancel = undefined;
      // A search does the same work, and its caller gets the error.
      catchUp(Number.POSITIVE_INFINITY).catch(() => {});
    });
  }

  return {
    catchUp,
    touched,
    close() {
      closed = true;
      cancel?.();
    },
  };
}
