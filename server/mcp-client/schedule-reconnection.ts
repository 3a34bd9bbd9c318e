/** A server names how long to wait in its stream: none, or more than a timer can wait, which is none too. */
const WAIT_MS = { least: 1_000, most: 60_000 } as const;

/** Runs `reconnect` after `ms`, within bounds. Returns a function that takes it back. */
export function scheduleReconnection(reconnect: () => void, ms: number): () => void {
  const timer = setTimeout(reconnect, Math.min(Math.max(ms, WAIT_MS.least), WAIT_MS.most));
  return () => clearTimeout(timer);
}
