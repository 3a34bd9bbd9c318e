import type { ClientEnvironment } from './environment.ts';

/** Counts down the time that a granted call has, and can be stopped meanwhile. */
export interface ExecuteClock {
  /** Stops counting. Pauses nest: it goes on after as many `resume`. */
  pause(): void;
  resume(): void;
  /** True once the time is over, also when the program was frozen and no timer fired. */
  readonly expired: boolean;
  stop(): void;
}

/** Calls `onExpire` once when `remainingMs` of running time are over. */
export function createExecuteClock({
  remainingMs,
  onExpire,
  environment: { now, schedule },
}: {
  remainingMs: number;
  onExpire: () => void;
  environment: Pick<ClientEnvironment, 'now' | 'schedule'>;
}): ExecuteClock {
  let left = remainingMs;
  let startedAt = now();
  let pauses = 0;
  let stopped = false;
  let stopTimer = schedule(Math.max(0, left), onExpire);

  return {
    pause() {
      pauses += 1;
      if (pauses > 1) return;
      stopTimer();
      left -= now() - startedAt;
    },
    resume() {
      pauses -= 1;
      if (pauses > 0 || stopped) return;
      startedAt = now();
      stopTimer = schedule(Math.max(0, left), onExpire);
    },
    get expired() {
      return left - (pauses > 0 ? 0 : now() - startedAt) <= 0;
    },
    stop() {
      stopped = true;
      stopTimer();
    },
  };
}
