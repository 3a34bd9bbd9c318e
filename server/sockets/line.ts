/**
 * The way to a client as far as the server writes to it: a `WebSocket`, of which this is a part, or
 * a stream of events.
 */
export interface Line {
  /** Equals `OPEN` until it closes, from either side. */
  readonly readyState: number;
  readonly OPEN: number;
  /** In bytes: what was sent and is still in memory. */
  readonly bufferedAmount: number;
  /** What its client sends is not read for now. */
  readonly isPaused: boolean;
  /** `taken` is called once the text has left, or cannot leave any more. */
  send(text: string, taken: () => void): void;
  /** Writes something that is no message. */
  ping(): void;
  on(event: 'pong', listener: () => void): unknown;
  close(code: number, reason: string): void;
  /** Ends it at once, without a close message: its other side may be out of reach. */
  terminate(): void;
}
