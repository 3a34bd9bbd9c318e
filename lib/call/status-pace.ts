import { estimateJsonBytes } from '../json/measure-json.ts';
import type { CardUpdate } from '../protocol/card.ts';

/** So many of a burst are events of their own at once. */
const BURST = 3;
const PACE_MS = 250;
/** After so much quiet the next is the first of a burst. */
const QUIET_MS = 4 * PACE_MS;
/** From here on the pace doubles with each hundred events more, so that a call has some 2,000 at most. */
const MANY_EVENTS = 1_000;
/** It doubles with each of these bytes, too: a call has some 2 MiB of what was shown at most. */
const MANY_BYTES = 256 * 1024;

/**
 * When what a running tool shows becomes an event (rule CE9): what comes sooner is joined with what
 * comes next. This is the resolution in which people can see it again later.
 */
export class StatusPace {
  #ofBurst = 0;
  #newestAt = Number.NEGATIVE_INFINITY;
  #bytes = 0;

  /** Milliseconds until the next may be appended to a call of so many events. */
  waitMs(now: number, events: number): number {
    const since = now - this.#newestAt;
    if (since >= QUIET_MS) this.#ofBurst = 0;
    const doublings =
      Math.floor(Math.max(0, events - MANY_EVENTS) / 100) + Math.floor(this.#bytes / MANY_BYTES);
    if (doublings === 0 && this.#ofBurst < BURST) return 0;
    return Math.max(0, PACE_MS * 2 ** doublings - since);
  }

  appended(now: number, shown: CardUpdate, preview: unknown): void {
    this.#ofBurst += 1;
    this.#newestAt = now;
    this.#bytes +=
      estimateJsonBytes(shown) + (shown.preview_bytes ? estimateJsonBytes(preview) : 0);
  }
}
