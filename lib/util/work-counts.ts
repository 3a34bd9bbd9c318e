/** Counts what goes on at a time, by key; a key with nothing going on takes no memory. */
export class WorkCounts {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  async during<T>(key: string, work: () => Promise<T>): Promise<T> {
    this.#counts.set(key, this.of(key) + 1);
    try {
      return await work();
    } finally {
      const left = this.of(key) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    }
  }
}
