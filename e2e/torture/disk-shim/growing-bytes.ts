/** A file's content that is written to in small pieces. */
export interface GrowingBytes {
  write(offset: number, data: Buffer): void;
  truncate(length: number): void;
  toBuffer(): Buffer;
}

export function createGrowingBytes(first: Buffer): GrowingBytes {
  let bytes = Buffer.from(first);
  let length = first.length;

  /** Bytes between the old end and the new one read as zeros. */
  function resize(next: number): void {
    if (next > bytes.length) {
      const larger = Buffer.alloc(next * 2);
      bytes.copy(larger, 0, 0, length);
      bytes = larger;
    }
    if (next > length) bytes.fill(0, length, next);
    length = next;
  }

  return {
    write(offset, data) {
      if (offset + data.length > length) resize(offset + data.length);
      data.copy(bytes, offset);
    },
    truncate: resize,
    toBuffer: () => Buffer.from(bytes.subarray(0, length)),
  };
}
