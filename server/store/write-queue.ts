import { StoreFailedError } from './store-errors.ts';

/** A group is committed before the moment ends once it has so many, and half of all that are not on disk yet. */
const LEAST_GROUP = 64;
/** Two commits are on their way at once, so that the next begins without a turn of the event loop after the last. */
const MAX_COMMITS = 2;

interface Waiting<T> {
  readonly item: T;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Groups what is written at one moment: everything that was pushed until
 * `schedule` fires is committed at once, so that one fsync serves it all; or what
 * came while the disk was busy. It has no dependency on a database.
 */
export function createWriteQueue<T>(deps: {
  /** All of them or, rejecting, none, nor of any later one. Two may be on their way, and settle in order. */
  commit(items: readonly T[]): Promise<void>;
  schedule(flush: () => void): void;
  scheduleLater(flush: () => void): void;
  /** Called once, when `failed` has become true. */
  onFailed?(error: StoreFailedError): void;
}) {
  let waiting: Waiting<T>[] = [];
  let refusal: StoreFailedError | undefined;
  let failed = false;
  let isScheduled = false;
  let isScheduledLater = false;
  /** One that waits is awaited. */
  let isHasty = false;
  /** Commits that are on their way, and the items in them. */
  let underWay = 0;
  let committing = 0;
  let last = Promise.resolve();

  /** Nothing is accepted from now on, and what waits is rejected. Returns the error that tells so. */
  function fail(cause: unknown): StoreFailedError {
    if (failed && refusal) return refusal;
    failed = true;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const error = new StoreFailedError(
      `the database could not be written (${reason}); nothing is accepted until the server is started again`,
      { cause },
    );
    refusal = error;
    const rejected = waiting;
    waiting = [];
    for (const one of rejected) one.reject(error);
    deps.onFailed?.(error);
    return error;
  }

  // Enough for a commit: it is made while what comes in this moment goes on.
  const isGroup = () => waiting.length >= Math.max(LEAST_GROUP, committing);

  function pushed(mayWait: boolean): void {
    if (!mayWait) isHasty = true;
    if (isGroup() && underWay < MAX_COMMITS) flush();
    else if (!isHasty) later();
    else if (underWay === 0 && !isScheduled) {
      isScheduled = true;
      deps.schedule(() => {
        isScheduled = false;
        if (underWay === 0) flush();
      });
    }
  }

  function later(): void {
    if (isScheduledLater) return;
    isScheduledLater = true;
    deps.scheduleLater(() => {
      isScheduledLater = false;
      // A commit that is about to begin, or on its way, takes it along or is followed by it.
      if (underWay === 0 && !isScheduled) flush();
      else if (waiting.length > 0) isHasty = true;
    });
  }

  function flush(): void {
    if (waiting.length === 0) return;
    const group = waiting;
    waiting = [];
    isHasty = false;
    underWay += 1;
    committing += group.length;
    last = commit(group);
  }

  async function commit(group: readonly Waiting<T>[]): Promise<void> {
    try {
      await deps.commit(group.map((one) => one.item));
      underWay -= 1;
      committing -= group.length;
      // The next group leaves first, so that the disk need not wait for what follows from this one.
      if ((underWay === 0 && isHasty) || isGroup()) flush();
      for (const one of group) one.resolve();
    } catch (error) {
      underWay -= 1;
      const failure = fail(error);
      // guard: failed-write-rejected
      for (const one of group) one.reject(failure);
    }
  }

  return {
    /**
     * Resolves once the item is committed; in the order of the pushes. One that may
     * wait is committed with the next one, or by `scheduleLater`.
     */
    push(item: T, mayWait = false): Promise<void> {
      if (refusal) return Promise.reject(refusal);
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        pushed(mayWait);
      });
    },
    get failed() {
      return failed;
    },
    /** Why nothing is accepted, when that is so. */
    get refusal() {
      return refusal;
    },
    fail,
    /** Takes nothing more; resolves when all that waits is committed. */
    async close(): Promise<void> {
      refusal ??= new StoreFailedError('the database is closed');
      flush();
      await last; // They settle in order.
    },
  };
}
