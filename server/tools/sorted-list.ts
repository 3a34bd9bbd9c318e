/** So many are moved at most by a change. */
const BLOCK = 128;

/** Items in an order in which no two are equal. A change moves a few, however many there are. */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  /** In order, none empty. */
  readonly #blocks: T[][] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  add(item: T): void {
    const at = this.#blockOf(item);
    const block = this.#blocks[at];
    if (!block) {
      this.#blocks.push([item]);
      return;
    }
    block.splice(this.#placeIn(block, item), 0, item);
    if (block.length > BLOCK) this.#blocks.splice(at + 1, 0, block.splice(BLOCK / 2));
  }

  /** False when it is not in the list. It compares as it did when it was added. */
  delete(item: T): boolean {
    const at = this.#blockOf(item);
    const block = this.#blocks[at];
    const place = block ? this.#placeIn(block, item) : 0;
    if (block?.[place] !== item) return false;
    block.splice(place, 1);
    if (block.length === 0) this.#blocks.splice(at, 1);
    return true;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const block of this.#blocks) yield* block;
  }

  /** The first block that ends with the item or behind it, else the last one. */
  #blockOf(item: T): number {
    const at = firstIndex(this.#blocks, (block) => this.#isBefore(block.at(-1), item));
    return Math.min(at, Math.max(0, this.#blocks.length - 1));
  }

  #placeIn(block: readonly T[], item: T): number {
    return firstIndex(block, (one) => this.#isBefore(one, item));
  }

  #isBefore(one: T | undefined, item: T): boolean {
    return one !== undefined && this.#compare(one, item) < 0;
  }
}

/** Of the first item of a list for which `isBefore` is false; of those after it, it is, too. */
function firstIndex<T>(list: readonly T[], isBefore: (item: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && isBefore(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
