import type { Duplex } from 'node:stream';

/**
 * Gathers what is written to a stream in one turn into a single write to the
 * system: dozens of small frames for one client would else be as many calls.
 */
export function createCork(stream: Pick<Duplex, 'cork' | 'uncork'>): () => void {
  let corked = false;
  const uncork = () => {
    corked = false;
    stream.uncork();
  };
  return () => {
    if (corked) return;
    corked = true;
    stream.cork();
    // After the promises of this turn too, since those are what sends.
    process.nextTick(uncork);
  };
}
