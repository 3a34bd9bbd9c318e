/** The part of a `WebSocket` that is used here. */
export interface Socket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

/** Sockets, time and chance of the program or page that this code runs in. */
export interface SocketEnvironment {
  /** Starts to connect. May throw, for instance on a malformed address. */
  openSocket(url: string, protocols: readonly string[]): Socket;
  /** Milliseconds since the epoch. Must go on while the program is frozen. */
  now(): number;
  /** Calls `fire` once after `ms`; returns the function that cancels it. */
  schedule(ms: number, fire: () => void): () => void;
  /** From 0 up to, but not, 1. */
  random(): number;
  newId(): string;
  /**
   * Calls `listener` when the program or its network may have been away. Returns the unsubscribe
   * function.
   */
  onWake(listener: () => void): () => void;
  /**
   * Calls `listener` when the program is put away as it is, with its sockets, and may be woken
   * later: a page that goes into the back/forward cache. Missing where that does not exist.
   */
  onPutAway?(listener: () => void): () => void;
}
