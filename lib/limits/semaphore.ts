import { hasFairShare } from './counts.ts';

/** Work that was refused because too much waits already. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

interface SemaphoreLimits {
  /** So much may run at a time. */
  readonly atOnce: number;
  /** So much may wait, of each principal its share; by default something else bounds it. */
  readonly waiting?: number;
}

interface Entry {
  readonly principal: string;
  begin(): void;
}

/**
 * Lets so much work run at once. What waits begins in the order in which it came; where it has
 * principals, they take turns.
 */
export class Semaphore {
  /** A change holds from the next work that ends or comes. */
  atOnce: number;
  readonly #mostWaiting: number;
  readonly #waiting = new Set<Entry>();
  readonly #running = new Set<Entry>();

  constructor({ atOnce, waiting = Infinity }: SemaphoreLimits) {
    this.atOnce = atOnce;
    this.#mostWaiting = waiting;
  }

  get isIdle(): boolean {
    return this.#running.size + this.#waiting.size === 0;
  }

  /**
   * Calls `begin` now, or when its turn comes. Returns what ends it, or ends its waiting; what is
   * called again does nothing. Throws `QueueFullError` where it finds no place to wait.
   */
  enter(begin: () => void, principal = ''): () => void {
    const entry = { begin, principal };
    const isFree = this.#running.size < this.atOnce;
    if (!isFree && !this.#hasPlaceFor(principal)) throw new QueueFullError();
    this.#waiting.add(entry);
    if (isFree) this.#begin(entry);
    return () => {
      this.#waiting.delete(entry);
      if (this.#running.delete(entry)) this.#beginNext();
    };
  }

  #hasPlaceFor(principal: string): boolean {
    const { size } = this.#waiting;
    if (principal === '') return size < this.#mostWaiting;
    return hasFairShare(countOf(this.#waiting, principal), size, this.#mostWaiting);
  }

  #begin(entry: Entry): void {
    this.#waiting.delete(entry);
    this.#running.add(entry);
    const { principal } = entry;
    if (principal !== '') {
      for (const other of [...this.#waiting]) {
        // Now the others of the same principal come after those of all others.
        if (other.principal === principal && this.#waiting.delete(other)) this.#waiting.add(other);
      }
    }
    entry.begin();
  }

  #beginNext(): void {
    for (const next of this.#waiting) {
      if (this.#running.size >= this.atOnce) return;
      this.#begin(next);
    }
  }
}

function countOf(entries: ReadonlySet<Entry>, principal: string): number {
  let count = 0;
  for (const entry of entries) if (entry.principal === principal) count += 1;
  return count;
}

/** A semaphore for each key, which takes no memory while nothing runs or waits there. */
export class Semaphores {
  readonly #byKey = new Map<string, Semaphore>();

  enter(key: string, atOnce: number, begin: () => void): () => void {
    const semaphore = this.#byKey.get(key) ?? new Semaphore({ atOnce });
    semaphore.atOnce = Math.max(1, atOnce);
    this.#byKey.set(key, semaphore);
    const leave = semaphore.enter(begin);
    return () => {
      leave();
      if (semaphore.isIdle && this.#byKey.get(key) === semaphore) this.#byKey.delete(key);
    };
  }
}

/**
 * Gives what `work` gives, once it finds its place. Rejects with the reason of `signal` when that
 * aborts before its turn comes; `work` is not called then. Once it runs, stopping is its own affair.
 * It is no method, which each page would load with the client.
 */
export async function runIn<T>(
  semaphore: Pick<Semaphore, 'enter'>,
  work: () => Promise<T>,
  { signal, principal }: { signal?: AbortSignal; principal?: string } = {},
): Promise<T> {
  signal?.throwIfAborted();
  const { promise: turn, resolve, reject } = Promise.withResolvers<void>();
  const leave = semaphore.enter(resolve, principal);
  const give = () => reject(signal?.reason);
  signal?.addEventListener('abort', give, { once: true });
  try {
    await turn.finally(() => signal?.removeEventListener('abort', give));
    return await work();
  } finally {
    leave();
  }
}
