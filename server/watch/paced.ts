import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Lets so many bytes through in each turn of the event loop, first come, first
 * served: to hand a hundred snapshots to their sockets takes longer than the
 * loop may be stalled. One alone never waits, however large it is.
 */
export function createPace(bytesPerTurn: number): (bytes: number) => Promise<void> {
  let used = 0;
  let turn: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();

  async function take(bytes: number): Promise<void> {
    while (used > 0 && used + bytes > bytesPerTurn) await turn;
    used += bytes;
    turn ??= nextTurn().then(() => {
      used = 0;
      turn = undefined;
    });
  }

  return (bytes) => {
    last = last.then(() => take(bytes));
    return last;
  };
}
