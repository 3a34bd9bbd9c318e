import { createTokenBucket } from '../net/token-bucket.ts';
import type { ClientMessage } from '../protocol/client-messages.ts';
import type { ClientEnvironment } from './environment.ts';
import type { CallAnswer } from './journal.ts';

/** Answers that may be in flight at once, while others wait to be sent again. */
export const WINDOW = 64;
/** Half of what the server takes of one connection: the other half is for everything else. */
const RATE = { burst: 1_000, perSecond: 500 };
/** How long to wait for a token when there was none. */
const PACE_MS = 100;
/** An answer without a reply of the server keeps its place in the window this long. */
const REPLY_MS = 10_000;

interface OutboxOptions {
  readonly environment: Pick<ClientEnvironment, 'now' | 'schedule'>;
  /** Undefined when there is nothing to send any more, or not yet. */
  answerOf(id: string): CallAnswer | undefined;
  send(message: ClientMessage): boolean;
}

/**
 * Sends answers. A new one goes at once; those of earlier connections go again
 * in their order, as the acknowledgements come: after a long absence they may be
 * thousands, and all at once would be a flood that the server ends (CL33).
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #waiting = new Set<string>();
  readonly #inFlight = new Set<string>();
  #tokens;
  #cancelTimer = () => {};

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#tokens = createTokenBucket(RATE, options.environment.now);
  }

  /** A new answer. */
  send(id: string): void {
    this.#waiting.delete(id);
    const answer = this.#options.answerOf(id);
    if (!answer) return;
    this.#inFlight.add(id);
    this.#tokens.spend();
    this.#options.send(answer);
  }

  /** After a new connection. */
  resend(ids: readonly string[]): void {
    this.stop();
    this.#tokens = createTokenBucket(RATE, this.#options.environment.now);
    for (const id of ids) this.#waiting.add(id);
    this.#sendWaiting();
  }

  /** The server has replied to the answer; `wasAwaited`: the call was still open. */
  settled(id: string, wasAwaited: boolean): void {
    this.#inFlight.delete(id);
    this.#waiting.delete(id);
    // The server does not count the answer to an open call.
    if (wasAwaited) this.#tokens.giveBack();
    if (this.#waiting.size > 0) this.#sendWaiting();
  }

  /** The connection is gone. */
  stop(): void {
    this.#cancelTimer();
    this.#waiting.clear();
    this.#inFlight.clear();
  }

  #sendWaiting(): void {
    this.#cancelTimer();
    for (const id of this.#waiting) {
      if (this.#isFull || this.#tokens.isEmpty) break;
      this.send(id);
    }
    if (this.#waiting.size === 0) return;
    const wasFull = this.#isFull;
    const waitMs = wasFull ? REPLY_MS : PACE_MS;
    this.#cancelTimer = this.#options.environment.schedule(waitMs, () => {
      if (wasFull) this.#inFlight.clear();
      this.#sendWaiting();
    });
  }

  get #isFull(): boolean {
    return this.#inFlight.size >= WINDOW;
  }
}
