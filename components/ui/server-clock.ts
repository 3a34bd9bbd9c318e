import type { PageFetch } from '#lib/api/send-request';

/** Milliseconds by which the server's clock is ahead of the browser's, as far as it is known. */
let aheadMs = 0;

/** The `Date` of an answer has whole seconds, and the way takes time. */
const UNSURE_MS = 2_000;

/** The time by the server's clock, which its deadlines are of; people's own clocks may be hours off. */
export const serverNow = (): number => Date.now() + aheadMs;

/** The same requests; what their answers say of the server's clock counts from then on. */
export const followServerClock =
  (ask: PageFetch): PageFetch =>
  async (url, init) => {
    const response = await ask(url, init);
    const { headers } = response;
    // One that a cache kept has the time at which it was made.
    const isFresh = headers.get('cache-control')?.includes('no-store') === true;
    const ahead = Date.parse(headers.get('date') ?? '') + 500 - Date.now();
    if (isFresh && Math.abs(ahead - aheadMs) > UNSURE_MS) aheadMs = ahead;
    return response;
  };
