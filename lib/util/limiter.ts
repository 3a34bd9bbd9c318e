import { abortable } from './abortable.ts';
import { createConcurrencyLimiter } from './concurrency-limiter.ts';

/** Work that was refused because too much waits already. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

export type Limiter = ReturnType<typeof createLimiter>;

/** Runs so many pieces of work at once; the rest waits in the order in which it came. */
export function createLimiter(limits: { atOnce: number; waiting: number }) {
  const turns = createConcurrencyLimiter();
  const waiting = new Map<string, () => void>();
  let count = 0;

  async function turn(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (turns.acquire('', id, limits.atOnce)) return;
    if (waiting.size >= limits.waiting) throw new QueueFullError();
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(id, resolve);
    await abortable(signal, promise).finally(() => waiting.delete(id));
  }

  return {
    /**
     * Gives what `work` gives. Rejects with the signal's reason when that aborts before the turn
     * comes, and with `QueueFullError` when there is no place to wait; `work` is not called then.
     * Once it runs, stopping is its own affair: its turn ends when its promise settles.
     */
    async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      count += 1;
      const id = `${count}`;
      try {
        await turn(id, signal);
        return await work();
      } finally {
        // Also of one that was aborted in the moment in which its turn came.
        for (const next of turns.release(id)) waiting.get(next)?.();
      }
    },
  };
}
