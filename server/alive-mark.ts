import { readFile, writeFile } from 'node:fs/promises';
import type { Logger } from './logger.ts';

// fault point: alive-mark-interval
const EVERY_MS = 5_000;

/**
 * A file with the last time at which the server ran, so that the next start
 * can compute how long there was none. Not flushed: an older mark of the same clock does no harm.
 */
export interface AliveMark {
  /** What the server before left; undefined when there was none, or its file makes no sense. */
  lastAliveAt(): Promise<number | undefined>;
  /**
   * For when the clock was set: what is stored from then on is of the new time,
   * and a mark of the old one would count the difference as an absence.
   */
  markNow(): Promise<void>;
  /** Marks from now on. Returns a function that stops it and marks once more. */
  keep(): () => Promise<void>;
}

export function createAliveMark(deps: { file: string; now(): number; logger: Logger }): AliveMark {
  // In turn: of two writes at once the older one could be the last.
  let last = Promise.resolve();
  const mark = () => {
    last = last
      .then(() => writeFile(deps.file, `${deps.now()}\n`, { mode: 0o600 }))
      .catch(deps.logger.error);
    return last;
  };
  return {
    async lastAliveAt() {
      const text = await readFile(deps.file, 'utf8').catch((error: unknown) => {
        if (isMissing(error)) return '';
        throw error;
      });
      return /^\d{1,16}\n$/.test(text) ? Number(text) : undefined;
    },
    markNow: mark,
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

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
