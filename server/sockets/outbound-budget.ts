import { ByteBudget, type HeldBytes } from '#lib/limits/byte-budget';
import { hasFairShare } from '#lib/limits/counts';
import { afterWindow, isTooSlow, type Progress } from '#lib/limits/pace';
import type { Clock } from '../base/clock.ts';
import { type Collector, createCollector } from '../base/collect-garbage.ts';

/** Where a large answer goes. */
export interface OutboundSink {
  /** Counts the bytes that the other side has taken. */
  sentBytes(): number;
  /** Ends it: its reader takes too long. */
  cut(): void;
}

export interface OutboundShare {
  /** True once the answer may be made; false when it must not be: too many wait, or it was released. */
  readonly admitted: Promise<boolean>;
  /** Sets its size, where that was not known before it was made. */
  resize(bytes: number): void;
  /** It is sent, or its reader has gone. */
  release(): void;
}

/** All answers that are being made and sent have so much; a larger one goes alone. */
const MOST_BYTES = 16 * 1024 * 1024;
/** So many wait, and of each holder its share, which is at most a quarter. */
const MOST_WAITING = 256;
const MOST_WAITING_EACH = 64;
/** While others wait a reader has to take so much in each window, and all in so many of them. */
const WINDOW = { windowMs: 10_000, bytes: 16 * 1024, windows: 6 };

interface Share extends Progress {
  readonly sink: OutboundSink;
  readonly holder: string;
  bytes: number;
  held?: HeldBytes;
  settle(isAdmitted: boolean): void;
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
  readonly #bytes = new ByteBudget(MOST_BYTES);
  #isTurnOver = true;
  #isWatching = false;

  constructor({ clock, collector = createCollector() }: { clock: Clock; collector?: Collector }) {
    this.#clock = clock;
    this.#collector = collector;
  }

  /** `holder` asks for it: the others of the same one count with it. */
  open(sink: OutboundSink, bytes: number, holder: string): OutboundShare {
    const { promise: admitted, resolve: settle } = Promise.withResolvers<boolean>();
    const share: Share = { sink, holder, bytes, settle, moved: 0, windows: 0 };
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
    let own = 0;
    for (const share of this.#waiting) if (share.holder === holder) own += 1;
    return own < MOST_WAITING_EACH && hasFairShare(own, this.#waiting.size, MOST_WAITING);
  }

  /** It is the turn of the holder with the fewest bytes in the room, by the one that waits longest. */
  #next(): Share | undefined {
    const bytesOf = ({ holder }: Share) => this.#bytes.of(holder);
    const [first, ...others] = this.#waiting;
    return others.reduce(
      (best, share) => (best && bytesOf(share) < bytesOf(best) ? share : best),
      first,
    );
  }

  #admit(): void {
    const next = this.#next();
    if (!next || !this.#isTurnOver) return;
    if (!this.#bytes.hasRoomFor(next.bytes)) return this.#watch();
    this.#waiting.delete(next);
    this.#admitted.add(next);
    next.held = this.#bytes.hold(next.bytes, next.holder);
    next.moved = next.sink.sentBytes();
    next.settle(true);
    this.#isTurnOver = false;
    setImmediate(() => {
      this.#isTurnOver = true;
      this.#admit();
    });
  }

  #resize(share: Share, bytes: number): void {
    if (!this.#admitted.has(share)) return;
    share.bytes = bytes;
    share.held?.resize(bytes);
    this.#admit();
  }

  #release(share: Share): void {
    this.#waiting.delete(share);
    share.settle(false); // Without effect on one that was admitted.
    if (!this.#admitted.delete(share)) return;
    share.held?.release();
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
    afterWindow(this.#clock, WINDOW.windowMs, (isOwnStall) => {
      this.#isWatching = false;
      if (!isOwnStall && this.#waiting.size > 0) {
        for (const share of [...this.#admitted]) {
          if (isTooSlow(share, share.sink.sentBytes(), WINDOW)) share.sink.cut();
        }
      }
      this.#admit();
    });
  }
}
