import {
  createServer as createNodeServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { InboundBudget } from '../sockets/room.ts';
import { createApi } from './create-api.ts';
import { createForeignPages } from './foreign-pages.ts';
import type { HttpDeps } from './http-deps.ts';
import { createKnownConnections } from './known-connections.ts';
import { whenClosed } from './open-responses.ts';
import { createOpenSockets } from './open-sockets.ts';
import { createPlainGate } from './plain-gate.ts';
import { createRequestListener, type RequestListenerDeps } from './request-listener.ts';
import { readiness } from './routes/system.ts';
import { boundUnusedConnections } from './unused-connections.ts';

type GatesDeps = Parameters<typeof createPlainGate>[0] &
  Parameters<typeof createForeignPages>[0] &
  Parameters<typeof createKnownConnections>[0] &
  Pick<HttpDeps, 'sessions' | 'tokens' | 'clock'>;

/** Makes what requests and sockets pass before they are served, and what they share. */
export const createGates = (deps: GatesDeps) => ({
  plainGate: createPlainGate(deps),
  foreignPages: createForeignPages(deps),
  connections: createKnownConnections(deps),
  openSockets: createOpenSockets(deps),
  inbound: new InboundBudget(deps),
});

export interface HttpServerDeps
  extends Omit<HttpDeps, 'isForeignPage' | 'ready'>,
    RequestListenerDeps {
  readonly store: { readonly failed: boolean };
  readonly gate: Pick<Parameters<typeof createHttpServer>[0], 'onUpgrade'>;
}

/** Node's server with the API, the pages and the sockets; it does not listen yet. */
export function createServer(deps: HttpServerDeps) {
  const { store, closing, hostGate } = deps;
  const api = createApi({
    ...deps,
    isForeignPage: hostGate.isForeignPage,
    ready: () => readiness(store.failed, closing.aborted),
  });
  const inFlight = createRequestsInFlight(createRequestListener(deps, api));
  const { onUpgrade } = deps.gate;
  const server = createHttpServer({ onRequest: inFlight.onRequest, onUpgrade });
  return { server, answered: inFlight.answered };
}

const SECOND = 1_000;

/** Node's server with the limits that keep slow and endless callers from holding it. */
export function createHttpServer(deps: {
  readonly onRequest: Listener;
  readonly onUpgrade: (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Open connections of all kinds. */
  readonly maxConnections?: number;
  /** So many of them may be without a request. */
  readonly maxUnused?: number;
}): Server {
  const server = createNodeServer(
    {
      headersTimeout: 9 * SECOND,
      // 16 MiB over a slow phone's network; waiting for a result comes after the request and is not in it.
      requestTimeout: 120 * SECOND,
      connectionsCheckingInterval: SECOND,
      // Longer than the pause between two polls of a program.
      keepAliveTimeout: 65 * SECOND,
      maxHeaderSize: 16 * 1024,
      // An offer of HTTP/2 (curl --http2) is not a socket: it is answered as the request that it is.
      shouldUpgradeCallback: (incoming) => incoming.headers.upgrade?.toLowerCase() === 'websocket',
    },
    createOneAtATime(deps.onRequest),
  );
  server.maxConnections = deps.maxConnections ?? 10_000;
  boundUnusedConnections(server, deps.maxUnused ?? 5_000);
  server.on('upgrade', deps.onUpgrade);
  server.on('clientError', answerClientError);
  return server;
}

const STATUS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Bytes that are not HTTP. There is no request to answer, so the status goes out by hand. */
function answerClientError(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = STATUS[error.code ?? ''] ?? '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  );
}

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * A connection may send requests without waiting for responses: each is
 * handled when its response may be sent: all at once, each would keep its response
 * in memory until then, and a packet holds hundreds of requests.
 */
const createOneAtATime =
  (onRequest: Listener): Listener =>
  (incoming, outgoing) => {
    if (outgoing.socket) return onRequest(incoming, outgoing);
    // Not within the event, in which Node has not done yet.
    outgoing.once('socket', () => setImmediate(onRequest, incoming, outgoing));
  };

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
