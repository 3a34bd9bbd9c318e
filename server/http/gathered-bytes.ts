/** Smaller pieces are copied together. */
const BLOCK_BYTES = 4 * 1024;

/**
 * Bytes that come in pieces. A sender may make each piece a single byte, and each
 * takes some hundred bytes more as a buffer of its own.
 */
export class GatheredBytes {
  readonly #blocks: Buffer[] = [];
  /** What small pieces are copied into, and how far it is full. */
  #open: Buffer | undefined;
  #used = 0;

  add(piece: Buffer): void {
    const isFirst = this.#blocks.length === 0 && !this.#open;
    if (isFirst || piece.length >= BLOCK_BYTES) {
      this.#close();
      this.#blocks.push(piece);
      return;
    }
    for (let from = 0; from < piece.length; ) {
      this.#open ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
      const copied = piece.copy(this.#open, this.#used, from);
      from += copied;
      this.#used += copied;
      if (this.#used === BLOCK_BYTES) this.#close();
    }
  }

  clear(): void {
    this.#close();
    this.#blocks.length = 0;
  }

  all(): Buffer {
    this.#close();
    const [first] = this.#blocks;
    return this.#blocks.length === 1 && first ? first : Buffer.concat(this.#blocks);
  }

  #close(): void {
    if (this.#open) this.#blocks.push(this.#open.subarray(0, this.#used));
    this.#open = undefined;
    this.#used = 0;
  }
}
