/** The part of a `WebSocket` that a client uses. */
export interface ClientSocket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

/** All that a client needs of the program or page it lives in. */
export interface ClientEnvironment {
  /** Starts to connect. May throw, for instance on a malformed address. */
  openSocket(url: string, protocols: readonly string[]): ClientSocket;
  /** Milliseconds since the epoch. Must go on while the program is frozen. */
  now(): number;
  /** Calls `fire` once after `ms`; returns its undo. */
  schedule(ms: number, fire: () => void): () => void;
  /** From 0 up to, but not, 1. */
  random(): number;
  newId(): string;
  /** Tells when the program or its network may have been away. Returns the unsubscribe function. */
  onWake(listener: () => void): () => void;
  /**
   * Tells that the program is being put away as it is, with its sockets, and may be woken later:
   * a page that goes into the back/forward cache. Missing where there is no such thing.
   */
  onPutAway?(listener: () => void): () => void;
}
