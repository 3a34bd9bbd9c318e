interface Entries<Key> {
  readonly size: number;
  keys(): Iterable<Key>;
  delete(key: Key): boolean;
}

/** Forgets the oldest entries of a `Map` or `Set` beyond `most`: nothing in memory grows with history. */
export function keepNewest<Key>(entries: Entries<Key>, most: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(key);
  }
}
