/** Time and timers as a dependency, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fire` once after `ms`; returns its undo. Longer waits than a timer can hold are split. */
  schedule(ms: number, fire: () => void): () => void;
}

/** Node fires at once when asked for more than this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    schedule(ms, fire) {
      let timer: NodeJS.Timeout;
      const arm = (left: number) => {
        const step = Math.min(Math.max(left, 0), LONGEST_TIMER_MS);
        timer = setTimeout(() => (left > step ? arm(left - step) : fire()), step);
      };
      arm(ms);
      return () => clearTimeout(timer);
    },
  };
}
