import { StoreFailedError } from './store.ts';

/**
 * Groups what is written at one moment: everything that was pushed until
 * `schedule` fires is committed at once, so that one fsync serves it all. It
 * does not know what a database is.
 */
export interface WriteQueue<T> {
  /** Resolves once the item is committed; in the order of the pushes. */
  push(item: T): Promise<void>;
  readonly failed: boolean;
  /** Why nothing is accepted, when that is so. */
  readonly refusal: StoreFailedError | undefined;
  /** Nothing is accepted from now on, and what waits is rejected. Returns the error that tells so. */
  fail(cause: unknown): StoreFailedError;
  /** Takes nothing more; resolves when all that waits is committed. */
  close(): Promise<void>;
}

interface Waiting<T> {
  readonly item: T;
  resolve(): void;
  reject(error: Error): void;
}

export function createWriteQueue<T>(deps: {
  /** All of them or, rejecting, none. Called again only when it has settled. */
  commit(items: readonly T[]): Promise<void>;
  schedule(flush: () => void): void;
  /** Called once, when `failed` has become true. */
  onFailed?(error: StoreFailedError): void;
}): WriteQueue<T> {
  let waiting: Waiting<T>[] = [];
  let refusal: StoreFailedError | undefined;
  let failed = false;
  let committing: Promise<void> | undefined;

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

  function flush(): void {
    if (committing || waiting.length === 0) return;
    const group = waiting;
    waiting = [];
    committing = commit(group).finally(() => {
      committing = undefined;
      // What came while the disk was busy is the next group, and with it what comes in this moment.
      if (waiting.length > 0) deps.schedule(flush);
    });
  }

  async function commit(group: readonly Waiting<T>[]): Promise<void> {
    try {
      await deps.commit(group.map((one) => one.item));
      for (const one of group) one.resolve();
    } catch (error) {
      const failure = fail(error);
      // guard: failed-write-rejected
      for (const one of group) one.reject(failure);
    }
  }

  return {
    push(item) {
      if (refusal) return Promise.reject(refusal);
      if (waiting.length === 0 && !committing) deps.schedule(flush);
      return new Promise((resolve, reject) => waiting.push({ item, resolve, reject }));
    },
    get failed() {
      return failed;
    },
    get refusal() {
      return refusal;
    },
    fail,
    async close() {
      refusal ??= new StoreFailedError('the database is closed');
      flush();
      while (committing) {
        await committing;
        flush();
      }
    },
  };
}
