import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/** So long what one server sends may keep the program busy, before the turn of all else. */
const TURN_MS = 5;
const LONGEST_MS = 1_000;

/**
 * Shares time between what one server sends and all else: a server that sends without an end gets
 * half of it at most, and what it has sent beyond waits at the server.
 */
export function createTurns() {
  let began = performance.now();
  return {
    /** Whether what was taken since the turn began took so long that others are to have theirs. */
    isOver: (): boolean => performance.now() - began > TURN_MS,
    /** Resolves when others have had as long as was taken, with what followed from it. */
    async next(): Promise<void> {
      await nextTurn();
      const took = performance.now() - began;
      if (took > TURN_MS) await pause(Math.min(took, LONGEST_MS));
      began = performance.now();
    },
    begin(): void {
      began = performance.now();
    },
  };
}
