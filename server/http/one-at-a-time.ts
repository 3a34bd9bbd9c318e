import type { IncomingMessage, ServerResponse } from 'node:http';

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Of the requests that a connection sends without waiting for responses, each is
 * handled when its response may be sent: all at once, each would keep its response
 * in memory until then, and a packet holds hundreds of requests.
 */
export const createOneAtATime =
  (onRequest: Listener): Listener =>
  (incoming, outgoing) => {
    if (outgoing.socket) return onRequest(incoming, outgoing);
    // Not within the event, in which Node has not done yet.
    outgoing.once('socket', () => setImmediate(onRequest, incoming, outgoing));
  };
