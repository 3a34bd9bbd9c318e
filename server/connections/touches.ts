/** Of instances that never come back, the oldest touches are forgotten. */
const MOST_TOUCHES = 1_000;

/** When a person last touched each instance, also of instances that are away (LT3). */
export class Touches {
  readonly #touchedAt = new Map<string, number>();

  /** Milliseconds since the epoch; undefined for an instance that reported none. */
  get(instanceId: string): number | undefined {
    return this.#touchedAt.get(instanceId);
  }

  /** Returns the instance whose touch was forgotten for it. */
  set(instanceId: string, touchedAt: number): string | undefined {
    this.#touchedAt.delete(instanceId);
    this.#touchedAt.set(instanceId, touchedAt);
    const [oldest] = this.#touchedAt.keys();
    if (this.#touchedAt.size <= MOST_TOUCHES || oldest === undefined) return undefined;
    this.#touchedAt.delete(oldest);
    return oldest;
  }
}
