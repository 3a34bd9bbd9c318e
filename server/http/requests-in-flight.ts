import type { IncomingMessage, ServerResponse } from 'node:http';

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Counts requests that are not answered yet, so that a stop can wait for them. */
export function createRequestsInFlight(onRequest: Listener): {
  readonly onRequest: Listener;
  /** Resolves when every request is answered, or after `maxMs`. */
  answered(maxMs: number): Promise<void>;
} {
  let count = 0;
  let tell = () => {};
  const done = () => {
    count -= 1;
    if (count === 0) tell();
  };
  return {
    onRequest(incoming, outgoing) {
      count += 1;
      outgoing.once('close', done);
      onRequest(incoming, outgoing);
    },
    answered(maxMs) {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, maxMs);
        tell = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
