import type { Duplex } from 'node:stream';
import { cutToBytes } from '#lib/json/cut-to-bytes';

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

/** RFC 6455 leaves 123 bytes for a close reason; `ws` throws beyond that. */
const REASON_BYTES = 123;

export function closeSocket(socket: Pick<Line, 'close'>, code: number, reason: string): void {
  socket.close(code, cutToBytes(reason, REASON_BYTES));
}

/**
 * Gathers what is written to a stream in one turn into a single write to the
 * system: dozens of small frames for one client would else be as many calls.
 */
export function createCork(stream: Pick<Duplex, 'cork' | 'uncork'>): () => void {
  let corked = false;
  const uncork = () => {
    corked = false;
    stream.uncork();
  };
  return () => {
    if (corked) return;
    corked = true;
    stream.cork();
    // After the promises of this turn too, since those are what sends.
    process.nextTick(uncork);
  };
}
