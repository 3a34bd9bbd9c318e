import type { Socket, SocketEnvironment } from '../net/environment.ts';
import type { Fetch } from '../net/stream-socket.ts';

/** The part of a `WebSocket` that a client uses. */
export type ClientSocket = Socket;

/** What a client needs of the program or page that it runs in. */
export interface ClientEnvironment extends SocketEnvironment {
  /** For where no WebSocket can be opened; without it there are sockets alone. */
  readonly byRequests?: {
    readonly fetch: Fetch;
    /** Takes what `openSocket` takes. */
    openStream(url: string, protocols: readonly string[]): Socket;
  };
}
