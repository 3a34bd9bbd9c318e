import { createLimiter, QueueFullError } from '#lib/util/limiter';
import { refusal } from './tool-error.ts';

const MOST_WAITING = 32;

type InTurn = <T>(signal: AbortSignal, run: () => Promise<T>) => Promise<T>;

/** Runs at most `concurrency` calls of a tool at once; others wait until theirs is aborted. */
export function createTurns(tool: {
  readonly name: string;
  readonly concurrency?: number;
}): InTurn {
  const { name, concurrency } = tool;
  if (concurrency === undefined) return (_signal, run) => run();
  const limiter = createLimiter({ atOnce: concurrency, waiting: MOST_WAITING });
  return async (signal, run) => {
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      return run();
    };
    try {
      return await limiter.run(signal, begin);
    } catch (error) {
      if (error instanceof QueueFullError) {
        throw refusal(
          `${concurrency} calls of ${name} run and ${MOST_WAITING} wait; call again when some have ended.`,
        );
      }
      if (hasBegun) throw error;
      throw refusal(
        `The call waited for its turn until it was stopped; ${concurrency} of ${name} run at a time, so make fewer at once.`,
      );
    }
  };
}
