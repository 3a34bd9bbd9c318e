interface Entry<V> {
  readonly owner: string;
  readonly value: V;
}

/**
 * At most so many entries of several owners. When it is full, the owner with the most entries loses
 * its oldest one: whoever fills it pushes out nothing of the others.
 */
export class FairMap<V> {
  readonly #most: number;
  /** By key, oldest first. */
  readonly #entries = new Map<string, Entry<V>>();
  readonly #counts = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  values(): V[] {
    return [...this.#entries.values()].map(({ value }) => value);
  }

  /** Puts it as the newest one. Returns the key that had to go for it. */
  put(owner: string, key: string, value: V): string | undefined {
    this.delete(key);
    this.#entries.set(key, { owner, value });
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + 1);
    return this.#entries.size > this.#most ? this.#dropOne() : undefined;
  }

  /** In its place; nothing where there is no such key. */
  replace(key: string, value: V): void {
    const known = this.#entries.get(key);
    if (known) this.#entries.set(key, { ...known, value });
  }

  delete(key: string): boolean {
    const known = this.#entries.get(key);
    if (!known) return false;
    this.#entries.delete(key);
    const left = (this.#counts.get(known.owner) ?? 1) - 1;
    if (left > 0) this.#counts.set(known.owner, left);
    else this.#counts.delete(known.owner);
    return true;
  }

  #dropOne(): string | undefined {
    const most = Math.max(...this.#counts.values());
    for (const [key, { owner }] of this.#entries) {
      if (this.#counts.get(owner) !== most) continue;
      this.delete(key);
      return key;
    }
    return undefined;
  }
}
