import type { Clock } from '../clock.ts';

/** A record is written this often at most. */
const EVERY_MS = 1_000;

/** Writes a record at once, and what changes shortly after in one further write (rule DV51). */
export function createWriteGate(clock: Pick<Clock, 'schedule'>, write: (key: string) => void) {
  /** Records that were written lately, and whether they changed since. */
  const resting = new Map<string, { isStale: boolean; readonly cancel: () => void }>();
  const rest = (key: string): void => {
    write(key);
    const cancel = clock.schedule(EVERY_MS, () => {
      const isStale = resting.get(key)?.isStale;
      resting.delete(key);
      if (isStale) rest(key);
    });
    resting.set(key, { isStale: false, cancel });
  };
  return {
    changed(key: string): void {
      const known = resting.get(key);
      if (known) known.isStale = true;
      else rest(key);
    },
    stop(): void {
      for (const [key, { isStale, cancel }] of resting) {
        cancel();
        if (isStale) write(key);
      }
      resting.clear();
    },
  };
}
