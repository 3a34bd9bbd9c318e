/** A value that is given, comes later, or is read. */
export type Readable<T> = T | Promise<T> | (() => T | Promise<T>);

/** A function that gives promises is not asked again sooner, however often tools are listed. */
const READ_AGAIN_AFTER_MS = 1_000;

/**
 * Reads a value one reading at a time. While a promise is open the value of before counts;
 * `settled` is called when that is over.
 */
export function createReading<T>(given: Readable<T>, settled: () => void) {
  const read = readerOf(given);
  let known: { readonly value: T } | undefined;
  let failure: { readonly error: unknown } | undefined;
  let pending: Promise<void> | undefined;
  let freshUntil = 0;
  let isOutdated = false;

  const follow = async (value: Promise<T>) => {
    try {
      known = { value: await value };
      failure = undefined;
    } catch (error) {
      failure = { error };
    }
    pending = undefined;
    freshUntil = isOutdated ? 0 : performance.now() + READ_AGAIN_AFTER_MS;
    settled();
  };

  /** The value by this reading, or by the newest that is settled. Throws where there is none. */
  const look = (): T => {
    if (!pending && performance.now() >= freshUntil) {
      isOutdated = false;
      const value = read();
      if (!(value instanceof Promise)) return value;
      pending = follow(value);
    }
    if (failure) throw failure.error;
    if (!known) throw new Error('It is still being read');
    return known.value;
  };

  return {
    mayChange: typeof given === 'function',
    look,
    /** Gives what was read last: calls are checked by what was listed. */
    last: (): T => (known ? known.value : look()),
    /** The next look reads it again. */
    outdate() {
      freshUntil = 0;
      isOutdated = true;
    },
    /** Settles when there is a value. Rejects when there is none. */
    async ready() {
      const value = read();
      if (value instanceof Promise) known = { value: await value };
    },
  };
}

function readerOf<T>(given: Readable<T>): () => T | Promise<T> {
  if (given instanceof Function) return given as () => T | Promise<T>;
  return () => given;
}
