/** Bytes that are held for one principal. */
export interface HeldBytes {
  readonly bytes: number;
  resize(bytes: number): void;
  release(): void;
}

/** How many bytes are in memory at a time: in all, of which there may be `most`, and of each principal. */
export class ByteBudget {
  readonly most: number;
  readonly #each = new Map<string, number>();
  #total = 0;

  constructor(most: number) {
    this.most = most;
  }

  get total(): number {
    return this.#total;
  }

  get isOver(): boolean {
    return this.#total > this.most;
  }

  of(principal: string): number {
    return this.#each.get(principal) ?? 0;
  }

  /** Bytes that are more than all the room there is go alone. */
  hasRoomFor(bytes: number): boolean {
    return this.#total === 0 || this.#total + bytes <= this.most;
  }

  /** Holds them, whether there is room or not. */
  hold(bytes: number, principal = ''): HeldBytes {
    let held = 0;
    const resize = (to: number) => {
      const ofPrincipal = this.of(principal) + to - held;
      this.#total += to - held;
      held = to;
      if (ofPrincipal > 0) this.#each.set(principal, ofPrincipal);
      else this.#each.delete(principal);
    };
    resize(bytes);
    return {
      get bytes() {
        return held;
      },
      resize,
      release: () => resize(0),
    };
  }
}
