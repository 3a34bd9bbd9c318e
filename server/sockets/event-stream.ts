import type { ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';
import type { Line } from './line.ts';

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
