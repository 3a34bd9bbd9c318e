/** Time that stands still until a test moves it on. */
export interface ManualClock {
  now(): number;
  /** On the steady clock, which `setWall` leaves alone. */
  steady(): number;
  moment(): { wall: number; steady: number };
  resumeSteady(at: { wall: number; steady: number }): void;
  schedule(ms: number, fire: () => void): () => void;
  /** Moves on, firing in order what falls due meanwhile. */
  advance(ms: number): void;
  /** Moves the time without firing anything, as when a program is frozen. */
  freeze(ms: number): void;
  /** Sets the wall clock on, or back. No timer depends on it. */
  setWall(byMs: number): void;
}

export function createManualClock(start = 1_000_000): ManualClock {
  let time = start;
  /** Of the wall clock, and of the steady one, to `time`. */
  const ahead = { wall: 0, steady: 0 };
  const timers = new Set<{ at: number; fire: () => void }>();
  return {
    now: () => time + ahead.wall,
    steady: () => time + ahead.steady,
    moment: () => ({ wall: time + ahead.wall, steady: time + ahead.steady }),
    resumeSteady({ wall, steady }) {
      ahead.steady = steady - wall + ahead.wall;
    },
    setWall(byMs) {
      ahead.wall += byMs;
    },
    schedule(ms, fire) {
      const timer = { at: time + ms, fire };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      const end = time + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        timers.delete(next);
        time = Math.max(time, next.at);
        next.fire();
      }
      time = end;
    },
    freeze(ms) {
      time += ms;
    },
  };
}
