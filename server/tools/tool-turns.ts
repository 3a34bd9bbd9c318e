import { createLimiter, QueueFullError } from '#lib/util/limiter';
import { refusal } from './tool-error.ts';

const MOST_WAITING = 32;

type InTurn = <T>(signal: AbortSignal, run: () => Promise<T>) => Promise<T>;

/**
 * Runs at most `concurrency` calls of a tool at once. Others wait until theirs is aborted, and no
 * longer than the tool's own time, so that nobody holds its turns by calls with a longer one.
 */
export function createTurns(tool: {
  readonly name: string;
  readonly concurrency?: number;
  readonly timeoutMs: number;
}): InTurn {
  const { name, concurrency, timeoutMs } = tool;
  if (concurrency === undefined) return (_signal, run) => run();
  const limiter = createLimiter({ atOnce: concurrency, waiting: MOST_WAITING });
  return async (signal, run) => {
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      return run();
    };
    try {
      const patience = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      return await limiter.run(patience, begin);
    } catch (error) {
      if (error instanceof QueueFullError) {
        throw refusal(
          `${concurrency} calls of ${name} run and ${MOST_WAITING} wait; call again when some have ended.`,
        );
      }
      if (hasBegun) throw error;
      throw refusal(
        `The call waited for its turn in vain; ${concurrency} of ${name} run at a time, so make fewer at once.`,
      );
    }
  };
}
