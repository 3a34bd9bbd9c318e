import type { IncomingMessage, ServerResponse } from 'node:http';
import { whenClosed } from './when-closed.ts';

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Counts the requests without a complete response, so that a stop can wait for them. */
export function createRequestsInFlight(onRequest: Listener): {
  readonly onRequest: Listener;
  /** Resolves when every request has its response, or after `maxMs`. */
  answered(maxMs: number): Promise<void>;
} {
  let count = 0;
  let resolveAll = () => {};
  const done = () => {
    count -= 1;
    if (count === 0) resolveAll();
  };
  return {
    onRequest(incoming, outgoing) {
      count += 1;
      whenClosed(outgoing, done);
      onRequest(incoming, outgoing);
    },
    answered(maxMs) {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, maxMs);
        resolveAll = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
