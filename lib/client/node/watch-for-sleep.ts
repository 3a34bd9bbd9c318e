import type { ClientEnvironment } from '../environment.ts';

const TICK_MS = 1_000;
/** A tick that is late by this much came from a program or a computer that had stood still. */
const LATE_MS = 4_000;

/** Calls back when time has jumped between two ticks. Returns the unsubscribe function. */
export function watchForSleep(
  { now, schedule }: Pick<ClientEnvironment, 'now' | 'schedule'>,
  onWake: () => void,
): () => void {
  let last = now();
  let stop = schedule(TICK_MS, tick);

  function tick() {
    const late = now() - last - TICK_MS;
    last = now();
    stop = schedule(TICK_MS, tick);
    if (late >= LATE_MS) onWake();
  }

  return () => stop();
}
