import type { Socket, SocketEnvironment } from '../net/environment.ts';
import type { Fetch } from '../net/stream-socket.ts';

/** The part of a `WebSocket` that a client uses. */
export type ClientSocket = Socket;

/** A client needs this of the program or page that it runs in. */
export interface ClientEnvironment extends SocketEnvironment {
  /** For where no WebSocket can be opened; without it there are sockets alone. */
  readonly byRequests?: {
    readonly fetch: Fetch;
    /** Takes what `openSocket` takes. */
    openStream(url: string, protocols: readonly string[]): Socket;
  };
}

/** A WebSocket, or a stream of events and requests. */
export type Transport = 'socket' | 'stream';

/** So many sockets in a row without a welcome, though the server responds, and a stream is tried. */
const MOST_FAILURES = 2;
/** A connection that is made so long after a stream was chosen tries a socket again. */
const STREAM_MS = 10 * 60_000;

/** Chooses between the ways to one server. Rules: CL60 to CL62. */
export function createTransports({ openSocket, now, byRequests }: ClientEnvironment) {
  let transport: Transport = 'socket';
  let failures = 0;
  let chosenAt = 0;
  let isWelcomed = false;
  /** A stream that had a welcome is not given up when its server is away. */
  let isProven = false;
  let server = '';

  async function socketFailed(ask: Fetch): Promise<void> {
    const isServerThere = await isReachable(ask, server);
    if (isWelcomed) return;
    failures = isServerThere ? failures + 1 : 0;
    if (failures < MOST_FAILURES || transport === 'stream') return;
    transport = 'stream';
    chosenAt = now();
  }

  return {
    get transport() {
      return transport;
    },
    /** Opens what is to be used now. */
    open(url: string, protocols: readonly string[]): Socket {
      isWelcomed = false;
      server = url.replace(/^ws/, 'http');
      if (transport === 'stream' && now() - chosenAt >= STREAM_MS) {
        transport = 'socket';
        // One failure is enough now.
        failures = MOST_FAILURES - 1;
      }
      return transport === 'stream' && byRequests
        ? byRequests.openStream(url, protocols)
        : openSocket(url, protocols);
    },
    /** The connection has its welcome. */
    welcomed() {
      isWelcomed = true;
      isProven = transport === 'stream';
      failures = 0;
    },
    /** It has ended. */
    ended() {
      if (isWelcomed) return;
      if (transport === 'socket') {
        if (byRequests) void socketFailed(byRequests.fetch);
      } else if (!isProven) {
        transport = 'socket';
        failures = 0;
      }
    },
  };
}

/**
 * Tells that requests get through where a socket did not. The response of another origin cannot be
 * read, and its status is 0; one of 5xx is that of a proxy before a server that is away.
 */
async function isReachable(ask: Fetch, server: string): Promise<boolean> {
  try {
    const url = new URL('/client.js', server).href;
    const { status } = await ask(url, { method: 'HEAD', mode: 'no-cors', credentials: 'omit' });
    return status < 500;
  } catch {
    return false;
  }
}
