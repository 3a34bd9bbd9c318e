import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { WalSource } from './scan-wal.ts';

/** Undefined when there is no such file. */
export const fileSize = (file: string): number | undefined =>
  statSync(file, { throwIfNoEntry: false })?.size;

/** A file as bytes to read, while `use` runs. */
export function withFile<T>(file: string, use: (source: WalSource) => T): T {
  const handle = openSync(file, 'r');
  try {
    return use({
      size: fstatSync(handle).size,
      read(at, length) {
        // Not from Buffer's pool: checksums want the bytes aligned.
        const bytes = Buffer.from(new ArrayBuffer(length));
        let filled = 0;
        while (filled < length) {
          const read = readSync(handle, bytes, filled, length - filled, at + filled);
          if (read === 0) break;
          filled += read;
        }
        return bytes.subarray(0, filled);
      },
    });
  } finally {
    closeSync(handle);
  }
}
