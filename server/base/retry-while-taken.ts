import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 1_000;
const PAUSE_MS = 50;

/**
 * Takes what a predecessor may still hold: a server that was stopped and
 * started again can find the old one on its way out, since npm ends some
 * milliseconds before what it had started.
 */
export async function retryWhileTaken<T>(
  take: () => T | Promise<T>,
  isTaken: (error: unknown) => boolean,
): Promise<T> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await take();
    } catch (error) {
      if (!isTaken(error) || Date.now() > giveUpAt) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
