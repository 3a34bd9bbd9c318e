import { rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { Moment } from '#lib/call/clocks';
import { passOverMissing } from '#lib/util/is-missing';
import type { LastMark } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';

/**
 * A file in the data directory by which programs of its owner find the server that has it: its
 * address and its process. An older one is removed before the server listens, and the lock of the
 * directory shows whether the server of the file still runs.
 */
export function createAddressFile(file: string, pid: number) {
  const remove = () => rmSync(file, { force: true });
  return {
    remove,
    publish(url: string): void {
      remove();
      writeFileSync(file, `${JSON.stringify({ url, pid })}\n`, { mode: 0o600 });
    },
  };
}

export type AddressFile = ReturnType<typeof createAddressFile>;

// fault point: alive-mark-interval
const EVERY_MS = 5_000;

/**
 * A file with the last time at which the server ran, on both clocks, so that the
 * next start can compute how long there was none, and where the steady clock goes on.
 * Not flushed: an older mark of the same clocks does no harm.
 */
export function createAliveMark(deps: { file: string; now(): Moment; logger: Logger }) {
  // In turn: of two writes at once the older one could be the last.
  let last = Promise.resolve();
  const writeMark = () => {
    const { wall, steady } = deps.now();
    return writeFile(deps.file, `${wall} ${steady}\n`, { mode: 0o600 });
  };
  const mark = () => {
    last = last.then(writeMark).catch(deps.logger.error);
    return last;
  };
  return {
    /** The server before left it; undefined when there was none, or its file makes no sense. */
    async last(): Promise<LastMark | undefined> {
      const text = await readFile(deps.file, 'utf8').catch(passOverMissing);
      const [, wall, steady] = /^(\d{1,16}) (\d{1,16})\n$/.exec(text ?? '') ?? [];
      return wall === undefined ? undefined : { wall: Number(wall), steady: Number(steady) };
    },
    /** Marks from now on. Returns a function that stops it and marks once more. */
    keep() {
      void mark();
      const timer = setInterval(mark, EVERY_MS);
      timer.unref();
      return async () => {
        clearInterval(timer);
        await mark();
      };
    },
  };
}
