import type { ServerResponse } from 'node:http';

const ENDINGS = Symbol('endings');

interface Exchange extends ServerResponse {
  [ENDINGS]?: (() => void)[];
}

/**
 * Calls back, in the order of the calls here, once the response is sent or its caller has left; at
 * once where that is so. One listener of each response serves all who wait for it.
 */
export function whenClosed(outgoing: Exchange, work: () => void): void {
  if (outgoing.destroyed) return work();
  const known = outgoing[ENDINGS];
  if (known) return void known.push(work);
  const all = [work];
  outgoing[ENDINGS] = all;
  outgoing.once('close', () => {
    for (const one of all) one();
  });
}
