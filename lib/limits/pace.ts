interface PaceLimits {
  readonly windowMs: number;
  /** It has to move so many bytes in each window, */
  readonly bytes: number;
  /** and be done within so many of them. */
  readonly windows: number;
}

/** How far one has come that others wait for. */
export interface Progress {
  moved: number;
  windows: number;
}

interface PaceClock {
  now(): number;
  schedule(ms: number, work: () => void): () => void;
}

/** Calls back at the end of a window; `isOwnStall`: the server itself came late, which counts against nobody. */
export function afterWindow(
  clock: PaceClock,
  windowMs: number,
  ended: (isOwnStall: boolean) => void,
): () => void {
  const due = clock.now() + windowMs;
  return clock.schedule(windowMs, () => ended(clock.now() - due > windowMs / 4));
}

/** Counts a window, in which it came to `moved` bytes: whether it keeps the others waiting for too long. */
export function isTooSlow(progress: Progress, moved: number, limits: PaceLimits): boolean {
  const isSlow = moved - progress.moved < limits.bytes;
  progress.moved = moved;
  progress.windows += 1;
  return isSlow || progress.windows >= limits.windows;
}
