/** Calls `fire` once after `ms`; returns the function that cancels it. */
export function schedule(ms: number, fire: () => void): () => void {
  const timer = setTimeout(fire, ms);
  return () => clearTimeout(timer);
}
