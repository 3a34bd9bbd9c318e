import type { Moment } from '#lib/call/clocks';
import { abortable } from '#lib/util/abortable';

/** Time and timers as a dependency, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fire` once after `ms`; returns a function that cancels it. Longer waits than a timer can hold are split. */
  schedule(ms: number, fire: () => void): () => void;
}

/** Resolves after `ms`; rejects with the signal's reason as soon as that aborts. */
export function pause(
  clock: Pick<Clock, 'schedule'>,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.schedule(ms, resolve);
  return signal ? abortable(signal, promise).finally(cancel) : promise;
}

/** Resolves after `ms`, when a signal aborts, or when what `listen` returns the end of calls `end`. */
export const waitFor = (
  clock: Pick<Clock, 'schedule'>,
  ms: number,
  signals: readonly AbortSignal[],
  listen?: (end: () => void) => () => void,
): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      cancel();
      unlisten?.();
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.schedule(ms, end);
    const unlisten = listen?.(end);
    for (const signal of signals) signal.addEventListener('abort', end);
    if (signals.some(({ aborted }) => aborted)) end();
  });

/** It has the clock on which deadlines are (`Moment`), too. */
export interface SteadyClock extends Clock {
  /** Milliseconds on a clock that is never set, and that runs while there is a server. */
  steady(): number;
  /** Both at once: two readings may lie in two milliseconds. */
  moment(): Moment;
  /** Lets the steady clock say `steady` when the wall clock says `wall`: once, at a start, before it is read. */
  resumeSteady(at: Moment): void;
}

/** When a server was last known to run. One of before marked only the wall time. */
export type LastMark = Pick<Moment, 'wall'> & Partial<Moment>;

export interface SystemClock extends SteadyClock {
  /** Follows the wall clock from now on. `onJump` is called when that was set, or the machine slept. */
  followWallClock(onJump: () => void): () => void;
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
  /** Between the two clocks: whole, so that a deadline is the same wall time each time it is shown. */
  let offset = 0;
  // Whole milliseconds, as they are stored.
  const now = () => Math.floor(base + steadyNow());
  const steady = () => now() - offset;

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
    steady,
    moment() {
      const wall = now();
      return { wall, steady: wall - offset };
    },
    resumeSteady({ wall, steady }) {
      offset = wall - steady;
    },
    schedule,
    followWallClock(onJump) {
      const timer = setInterval(() => {
        const byMs = Math.round(wallNow() - now());
        if (Math.abs(byMs) <= JUMP_MS) return;
        base += byMs;
        // guard: steady-clock-not-set
        offset += byMs;
        onJump();
      }, CHECK_EVERY_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}
