import { rmSync, writeFileSync } from 'node:fs';

/**
 * A file in the data directory by which programs of its owner find the server that has it: its
 * address and its process. An older one is removed before the server listens, and the lock of the
 * directory shows whether the server of the file still runs.
 */
export interface AddressFile {
  publish(url: string): void;
  remove(): void;
}

export function createAddressFile(file: string, pid: number): AddressFile {
  const remove = () => rmSync(file, { force: true });
  return {
    remove,
    publish(url) {
      remove();
      writeFileSync(file, `${JSON.stringify({ url, pid })}\n`, { mode: 0o600 });
    },
  };
}
