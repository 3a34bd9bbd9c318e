import { createEmitter } from './emitter.ts';

/** A value that can be read and watched; fits React's `useSyncExternalStore`. */
export interface Observable<T> {
  get(): T;
  /** Calls back on each later change. Returns the unsubscribe function. */
  subscribe(listener: (value: T) => void): () => void;
}

export interface WritableObservable<T> extends Observable<T> {
  /** Setting the very same value calls no listener. */
  set(value: T): void;
}

/** A holder of one value and its watchers. */
export function createObservable<T>(initial: T): WritableObservable<T> {
  const changes = createEmitter<T>();
  let current = initial;
  return {
    get: () => current,
    subscribe: changes.subscribe,
    set(value) {
      if (Object.is(current, value)) return;
      current = value;
      changes.emit(value);
    },
  };
}
