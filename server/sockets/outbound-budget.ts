import type { Clock } from '../base/clock.ts';
import { type Collector, createCollector } from '../base/collect-garbage.ts';

/** Where a large answer goes. */
export interface OutboundSink {
  /** As far as the other side has taken them. */
  sentBytes(): number;
  /** Ends it: its reader takes too long. */
  cut(): void;
}

export interface OutboundShare {
  /** True once the answer may be made; false when it must not be: too many wait, or it was released. */
  readonly admitted: Promise<boolean>;
  /** What it came to, where that was not known before it was made. */
  resize(bytes: number): void;
  /** It is sent, or its reader has gone. */
  release(): void;
}

/** Of all answers that are being made and sent; a larger one goes alone. */
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_WAITING = 256;
/** Of one holder. */
const MOST_WAITING_EACH = 64;
/** While others wait a reader has to take so much in each of these times, */
const WINDOW_MS = 10_000;
const WINDOW_BYTES = 16 * 1024;
/** and all of it in so many of them. */
const MOST_WINDOWS = 6;

interface Share {
  readonly sink: OutboundSink;
  readonly holder: string;
  bytes: number;
  settle(isAdmitted: boolean): void;
  /** When the window began. */
  sent: number;
  windows: number;
}

/**
 * Bounds the large answers that are made and not sent yet, over all connections
 * (rule UN4): each waits for its room before its value is read, and one is made in
 * a turn of the event loop. It is the turn of the holder that has the fewest bytes
 * of the room, in the order of its answers.
 */
export class OutboundBudget {
  readonly #clock: Clock;
  readonly #collector: Collector;
  readonly #waiting = new Set<Share>();
  readonly #admitted = new Set<Share>();
  #total = 0;
  #isTurnOver = true;
  #isWatching = false;

  constructor({ clock, collector = createCollector() }: { clock: Clock; collector?: Collector }) {
    this.#clock = clock;
    this.#collector = collector;
  }

  /** `holder` asks for it: the others of the same one count with it. */
  open(sink: OutboundSink, bytes: number, holder: string): OutboundShare {
    const { promise: admitted, resolve: settle } = Promise.withResolvers<boolean>();
    const share: Share = { sink, holder, bytes, settle, sent: 0, windows: 0 };
    if (!this.#mayWait(holder)) settle(false);
    else this.#waiting.add(share);
    this.#admit();
    return {
      admitted,
      resize: (to) => this.#resize(share, to),
      release: () => this.#release(share),
    };
  }

  #mayWait(holder: string): boolean {
    if (this.#waiting.size >= MOST_WAITING) return false;
    const own = this.#waiting.values().filter((share) => share.holder === holder);
    return own.toArray().length < MOST_WAITING_EACH;
  }

  /** Of the holder with the fewest bytes in the room the one that waits longest. */
  #next(): Share | undefined {
    const held = Map.groupBy(this.#admitted, ({ holder }) => holder);
    const bytesOf = ({ holder }: Share) =>
      held.get(holder)?.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
    const [first, ...others] = this.#waiting;
    return others.reduce(
      (best, share) => (best && bytesOf(share) < bytesOf(best) ? share : best),
      first,
    );
  }

  #admit(): void {
    const next = this.#next();
    if (!next || !this.#isTurnOver) return;
    if (this.#total > 0 && this.#total + next.bytes > MOST_BYTES) return this.#watch();
    this.#waiting.delete(next);
    this.#admitted.add(next);
    this.#total += next.bytes;
    next.sent = next.sink.sentBytes();
    next.settle(true);
    this.#isTurnOver = false;
    setImmediate(() => {
      this.#isTurnOver = true;
      this.#admit();
    });
  }

  #resize(share: Share, bytes: number): void {
    if (!this.#admitted.has(share)) return;
    this.#total += bytes - share.bytes;
    share.bytes = bytes;
    this.#admit();
  }

  #release(share: Share): void {
    this.#waiting.delete(share);
    share.settle(false); // Without effect on one that was admitted.
    if (!this.#admitted.delete(share)) return;
    this.#total -= share.bytes;
    // In a turn of its own, before the next one is made.
    setImmediate(() => {
      this.#collector.used(share.bytes);
      setImmediate(() => this.#admit());
    });
  }

  /** A reader must not keep the others waiting for ever. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const due = this.#clock.now() + WINDOW_MS;
    this.#clock.schedule(WINDOW_MS, () => {
      this.#isWatching = false;
      // The server's own stall counts against no reader.
      const isLate = this.#clock.now() - due > WINDOW_MS / 4;
      if (!isLate && this.#waiting.size > 0)
        for (const share of [...this.#admitted]) endWindow(share);
      this.#admit();
    });
  }
}

function endWindow(share: Share): void {
  const sent = share.sink.sentBytes();
  const isSlow = sent - share.sent < WINDOW_BYTES;
  share.sent = sent;
  share.windows += 1;
  if (isSlow || share.windows >= MOST_WINDOWS) share.sink.cut();
}
