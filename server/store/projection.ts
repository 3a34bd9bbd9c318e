import { StoreBusyError } from './store-errors.ts';

/**
 * When the rows and words of ended calls are made from the log, for lists and the search. Words
 * are several times dearer than the call itself, so they are not written with it: they follow
 * within a moment, under load too, or at the latest before a search. An open call is not found by
 * its words.
 */
export function createProjection(deps: {
  /** Applies some of what waits; whether there is more. */
  applySome(): Promise<boolean>;
  /** Calls back a moment later, so that many calls are applied together; returns its undo. */
  scheduleIndexing(work: () => void): () => void;
}) {
  let closed = false;
  let cancel: (() => void) | undefined;

  /**
   * Applies what waits, in small steps between which calls are written. Rejects with
   * `StoreBusyError` when there is more than fits into `limitMs`.
   */
  async function catchUp(limitMs: number): Promise<void> {
    const end = performance.now() + limitMs;
    while (!closed && (await deps.applySome())) {
      if (performance.now() < end) continue;
      touched(); // It goes on, without anyone waiting for it.
      throw new StoreBusyError('the words of many calls are still being indexed');
    }
  }

  /** Something was written: there may be more to apply. */
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
