import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { cutToBytes } from '#lib/json/cut-to-bytes';
import type { Clock } from '../base/clock.ts';

/**
 * The way to a client as far as the server writes to it: a `WebSocket`, of which this is a part, or
 * a stream of events.
 */
export interface Line {
  /** Equals `OPEN` until it closes, from either side. */
  readonly readyState: number;
  readonly OPEN: number;
  /** In bytes: what was sent and is still in memory. */
  readonly bufferedAmount: number;
  /** Its client's messages are not read for now. */
  readonly isPaused: boolean;
  /** `taken` is called once the text has left, or cannot leave any more. */
  send(text: string, taken: () => void): void;
  /** Writes something that is no message. */
  ping(): void;
  on(event: 'pong', listener: () => void): unknown;
  close(code: number, reason: string): void;
  /** Ends it at once, without a close message: its other side may be out of reach. */
  terminate(): void;
}

/** RFC 6455 leaves 123 bytes for a close reason; `ws` throws beyond that. */
const REASON_BYTES = 123;

export function closeSocket(socket: Pick<Line, 'close'>, code: number, reason: string): void {
  socket.close(code, cutToBytes(reason, REASON_BYTES));
}

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

/** A reader that does not take the end of its stream is cut off. As for a socket's close frame. */
const CLOSE_MS = 1_000;

/**
 * Server-Sent Events as the way to a client: each message is the `data` of an event without a name,
 * and the end is an event `close` with the code and the reason that a socket would be closed with.
 */
export class EventStream implements Line {
  readonly OPEN = 1;
  readyState = 1;
  isPaused = false;
  readonly #outgoing: ServerResponse;
  readonly #clock: Pick<Clock, 'schedule'>;

  constructor(outgoing: ServerResponse, clock: Pick<Clock, 'schedule'>) {
    this.#outgoing = outgoing;
    this.#clock = clock;
    if (outgoing.destroyed) this.#leave();
    outgoing.once('close', () => this.#leave());
  }

  get bufferedAmount(): number {
    return this.#outgoing.writableLength;
  }

  /** The first event: what the client has to know to send messages. */
  open(facts: object): void {
    if (this.readyState === this.OPEN) this.#outgoing.write(toEvent('open', facts));
  }

  send(text: string, taken: () => void): void {
    this.#outgoing.write(`data: ${text}\n\n`, taken);
  }

  /** A comment: proxies close what is silent for a minute. */
  ping(): void {
    if (this.readyState === this.OPEN) this.#outgoing.write(': still here\n\n');
  }

  /** Nothing replies to a comment. The client's requests are its signs of life. */
  on(): void {}

  close(code: number, reason: string): void {
    if (this.readyState !== this.OPEN) return;
    this.#leave();
    const outgoing = this.#outgoing;
    outgoing.end(toEvent('close', { code, reason }));
    const cancel = this.#clock.schedule(CLOSE_MS, () => outgoing.destroy());
    outgoing.once('close', cancel);
  }

  terminate(): void {
    this.#leave();
    this.#outgoing.destroy();
  }

  #leave(): void {
    this.readyState = this.OPEN + 2;
  }
}

const toEvent = (name: string, data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
