/** Time and timers as a dependency, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fire` once after `ms`; returns a function that cancels it. Longer waits than a timer can hold are split. */
  schedule(ms: number, fire: () => void): () => void;
}

export interface SystemClock extends Clock {
  /**
   * Follows the wall clock from now on. When that was set, or the machine slept,
   * `onJump` is called with by how much; it moves the deadlines.
   */
  followWallClock(onJump: (byMs: number) => void): () => void;
}

/** Node fires at once when asked for more than this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const CHECK_EVERY_MS = 1_000;
/** Less is left alone: it is the clock's own correction, or a look that came late. */
const JUMP_MS = 1_000;

/**
 * Wall time that runs evenly: it is set only between two looks at the wall
 * clock, never in the middle of a decision, so what was put off by 30 s is due
 * in 30 s whatever becomes of the wall clock (rule CK3).
 */
export function createSystemClock(
  sources: { wallNow(): number; steadyNow(): number } = {
    wallNow: () => Date.now(),
    steadyNow: () => performance.now(),
  },
): SystemClock {
  const { wallNow, steadyNow } = sources;
  let base = wallNow() - steadyNow();
  // Whole milliseconds, as they are stored.
  const now = () => Math.floor(base + steadyNow());

  function schedule(ms: number, fire: () => void): () => void {
    let timer: NodeJS.Timeout;
    const arm = (left: number) => {
      const step = Math.min(Math.max(left, 0), LONGEST_TIMER_MS);
      timer = setTimeout(() => (left > step ? arm(left - step) : fire()), step);
    };
    arm(ms);
    return () => clearTimeout(timer);
  }

  return {
    now,
    schedule,
    followWallClock(onJump) {
      const timer = setInterval(() => {
        const byMs = Math.round(wallNow() - now());
        if (Math.abs(byMs) <= JUMP_MS) return;
        base += byMs;
        onJump(byMs);
      }, CHECK_EVERY_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}
