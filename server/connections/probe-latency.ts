/** A change that people see: by more than a quarter, and by more than so many milliseconds. */
const LEAST_CHANGE_MS = 10;

/** How long the program of one client takes to answer a probe, its line included. */
export class ProbeLatency {
  readonly #now: () => number;
  #sent: { readonly nonce: string; readonly at: number } | undefined;
  #known: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  sent(nonce: string): void {
    this.#sent = { nonce, at: this.#now() };
  }

  /**
   * Milliseconds since that probe, where they differ visibly from what was given last; else
   * undefined, so that the probes of thousands of clients change no list.
   */
  answered(nonce: string): number | undefined {
    if (this.#sent?.nonce !== nonce) return undefined;
    const latency = Math.max(0, Math.round(this.#now() - this.#sent.at));
    this.#sent = undefined;
    const before = this.#known;
    const change = before === undefined ? Number.POSITIVE_INFINITY : Math.abs(latency - before);
    if (change <= LEAST_CHANGE_MS || change <= (before ?? 0) / 4) return undefined;
    this.#known = latency;
    return latency;
  }
}
