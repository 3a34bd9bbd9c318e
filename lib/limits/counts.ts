/** Counts what each principal has going on at a time; one with nothing takes no memory. */
export class Counts {
  readonly #counts = new Map<string, number>();

  of(principal: string): number {
    return this.#counts.get(principal) ?? 0;
  }

  /** Returns what ends it, to be called once; undefined where the principal has `most` already. */
  enter(principal: string, most = Infinity): (() => void) | undefined {
    const count = this.of(principal) + 1;
    if (count > most) return undefined;
    this.#counts.set(principal, count);
    return () => {
      const left = this.of(principal) - 1;
      if (left > 0) this.#counts.set(principal, left);
      else this.#counts.delete(principal);
    };
  }

  async during<T>(principal: string, work: () => Promise<T>): Promise<T> {
    const end = this.enter(principal);
    try {
      return await work();
    } finally {
      end?.();
    }
  }
}

/**
 * Says that one more of a principal that has `own` may be among the `held` ones of all: it may have as
 * many as there are places free. So one alone takes half of them at most, two take a third each, and
 * there is always room for a newcomer.
 */
export const hasFairShare = (own: number, held: number, most: number): boolean => own < most - held;
