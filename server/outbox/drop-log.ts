import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';

const GATHERED_MS = 10_000;

/** What was dropped, in one line for many: a flood of notices is no flood of lines. */
export class DropLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #counts = new Map<string, number>();
  #cancel = () => {};

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  note(target: string): void {
    if (this.#counts.size === 0)
      this.#cancel = this.#clock.schedule(GATHERED_MS, () => this.flush());
    this.#counts.set(target, (this.#counts.get(target) ?? 0) + 1);
  }

  /** At once what would be written later. */
  flush(): void {
    this.#cancel();
    if (this.#counts.size === 0) return;
    const counts = [...this.#counts].map(([target, count]) => `${count} to ${target}`);
    this.#counts.clear();
    this.#logger.info(
      `Deliveries of notices were dropped, since too many waited: ${counts.join(', ')}`,
    );
  }
}
