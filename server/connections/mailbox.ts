import type { ServerMessage, ServerMessageOf } from '#lib/protocol/server-messages';
import { type Clock, waitFor } from '../base/clock.ts';
import type { ClientChannel } from './presence.ts';

export type CallRequest = ServerMessageOf<'tool_call_request'>;

/** The channel of a client that polls: requests wait here until it asks. */
export class Mailbox implements ClientChannel {
  readonly #clock: Pick<Clock, 'schedule'>;
  #requests: CallRequest[] = [];
  /** Ends the poll that waits now. */
  #wake: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'schedule'>) {
    this.#clock = clock;
  }

  send(message: ServerMessage): void {
    if (message.type !== 'tool_call_request' && message.type !== 'tool_call_cancel') return;
    // The call has ended, or is requested anew under the next attempt.
    this.#requests = this.#requests.filter(({ id }) => id !== message.id);
    if (message.type === 'tool_call_cancel') return;
    this.#requests.push(message);
    this.#wake?.();
  }

  /** There is no connection to close: the client's next poll ends it, or its silence. */
  close(): void {}

  takeAll(): CallRequest[] {
    return this.#requests.splice(0);
  }

  /** Requests that were taken and not handed out; they come first. */
  putBack(requests: readonly CallRequest[]): void {
    this.#requests.unshift(...requests);
  }

  /** Resolves when there is a request, after `waitMs`, or when one of the signals aborts. */
  arrival(waitMs: number, signals: readonly AbortSignal[]): Promise<void> {
    if (this.#requests.length > 0 || waitMs <= 0) return Promise.resolve();
    if (signals.some(({ aborted }) => aborted)) return Promise.resolve();
    return waitFor(this.#clock, waitMs, signals, (end) => {
      // The newest poll gets what comes; an older one ends without a request.
      this.#wake?.();
      this.#wake = end;
      return () => {
        if (this.#wake === end) this.#wake = undefined;
      };
    });
  }
}
