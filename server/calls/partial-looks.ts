/**
 * One look at a time, and the newest next: what is written while a tool still looks is not
 * looked at one by one. None begins after the end.
 */
export class PartialLooks<Args> {
  readonly #look: (args: Args) => void | Promise<void>;
  readonly #failed: (error: unknown) => void;
  #next: { readonly args: Args } | undefined;
  #isLooking = false;
  #hasEnded = false;

  constructor(look: (args: Args) => void | Promise<void>, failed: (error: unknown) => void) {
    this.#look = look;
    this.#failed = failed;
  }

  add(args: Args): void {
    this.#next = { args };
    if (!this.#isLooking) void this.#lookAtAll();
  }

  end(): void {
    this.#hasEnded = true;
  }

  async #lookAtAll(): Promise<void> {
    this.#isLooking = true;
    while (this.#next && !this.#hasEnded) {
      const { args } = this.#next;
      this.#next = undefined;
      try {
        await this.#look(args);
      } catch (error) {
        // The call itself may be all right.
        this.#failed(error);
        this.end();
      }
    }
    this.#isLooking = false;
  }
}
