export interface TickerDeps {
  /** Milliseconds since the epoch, by the server's clock. */
  readonly now: () => number;
  /** Starts repeating, and gives back how to stop it. */
  readonly every: (ms: number, run: () => void) => () => void;
}

/** One clock for all cards on screen. */
export interface Ticker {
  /** Calls back at once and then on every tick. Returns how to stop. */
  subscribe(listener: (now: number) => void): () => void;
}

const TICK_MS = 250;

/**
 * One timer however many cards show a time, none without a listener. The
 * listeners write text by themselves, so that a tick renders nothing.
 */
export function createTicker({ now, every }: TickerDeps): Ticker {
  const listeners = new Set<(now: number) => void>();
  let stop: (() => void) | null = null;
  const tick = () => {
    const at = now();
    for (const listener of listeners) listener(at);
  };
  return {
    subscribe(listener) {
      listeners.add(listener);
      stop ??= every(TICK_MS, tick);
      listener(now());
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = null;
      };
    },
  };
}
