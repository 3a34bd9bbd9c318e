/** Calls any number of listeners. One that throws does not keep the others from being called. */
export interface Emitter<T> {
  /** Returns the unsubscribe function. */
  subscribe(listener: (value: T) => void): () => void;
  emit(value: T): void;
}

/** `onError` takes what a listener threw; that is a bug of the listener, not of who emits. */
export function createEmitter<T>(onError: (error: unknown) => void = reportLater): Emitter<T> {
  const listeners = new Set<{ call: (value: T) => void }>();
  return {
    subscribe(listener) {
      const entry = { call: listener };
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    emit(value) {
      for (const entry of [...listeners]) {
        try {
          entry.call(value);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}

/** It becomes an uncaught error, after what runs now. */
export function reportLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
