import { afterWindow } from '#lib/limits/pace';
import type { ServerMessage } from '#lib/protocol/server-messages';
import type { Clock } from '../base/clock.ts';
import type { Line } from './line.ts';

/** A client may leave so much unread in the socket's own buffer and in what waits for it here. */
const MOST_UNSENT_BYTES = 4 * 1024 * 1024;
/** Above this nothing more is handed to the socket until it has sent some. */
const PAUSE_ABOVE_BYTES = 1024 * 1024;
/** A client that takes nothing in so many of these times does not read, whatever it sends. */
const WINDOW_MS = 15_000;
const MOST_WINDOWS = 4;

export interface OutboxDeps {
  readonly socket: Pick<Line, 'send' | 'bufferedAmount' | 'readyState' | 'OPEN'>;
  readonly clock: Pick<Clock, 'now' | 'schedule'>;
  /** Before each frame. */
  onSend(): void;
  /** The client asks and does not read. */
  onFull(): void;
  /** Bytes wait, and the client has taken none for a while. */
  onStalled(): void;
}

/** `id`: of the call that a message is about. */
type OutboxMessage = ServerMessage | { readonly type: string; readonly id?: string };

interface Waiting {
  text(): string;
  /** That it takes of memory by waiting. */
  readonly bytes: number;
  /** The call that it requests. */
  readonly callId: string | undefined;
}

/**
 * Messages to one client, in order (rule UN1). A request of a call waits as the
 * message that it is, which is in memory with its call; so many large ones may be
 * due at one moment. With its call it goes. All else has an answer's text, and counts.
 */
export class Outbox {
  readonly #deps: OutboxDeps;
  readonly #waiting = new Set<Waiting>();
  /** Requests that wait, by their calls. */
  readonly #requests = new Map<string, Waiting>();
  #waitingBytes = 0;
  /** Frames that went out. */
  #sent = 0;
  /** Windows in which none did, one after the other. */
  #silent = 0;
  #stopWatching: (() => void) | undefined;

  /** Called after each frame that went out, or could not. */
  readonly #wasTaken = (): void => {
    this.#sent += 1;
    this.#pump();
  };

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
  }

  send(message: OutboxMessage): void {
    const { socket, onFull } = this.#deps;
    // The call has ended, or is requested anew under the next attempt.
    if (message.type === 'tool_call_cancel' || message.type === 'tool_call_request')
      this.drop(idOf(message));
    if (this.#waiting.size === 0 && this.#hasRoom()) return this.#write(JSON.stringify(message));
    const held = hold(message);
    this.#waiting.add(held);
    if (held.callId !== undefined) this.#requests.set(held.callId, held);
    this.#waitingBytes += held.bytes;
    if (this.#waitingBytes + socket.bufferedAmount > MOST_UNSENT_BYTES) onFull();
  }

  /** The request of this call, if it still waits. */
  drop(callId: string | undefined): void {
    if (callId !== undefined) this.#take(this.#requests.get(callId));
  }

  /** The socket has closed. */
  stop(): void {
    this.#stopWatching?.();
    this.#waiting.clear();
    this.#requests.clear();
  }

  #hasRoom(): boolean {
    return this.#deps.socket.bufferedAmount <= PAUSE_ABOVE_BYTES;
  }

  #write(text: string): void {
    const { socket, onSend } = this.#deps;
    onSend();
    this.#watch();
    socket.send(text, this.#wasTaken);
  }

  #pump(): void {
    const { socket } = this.#deps;
    while (socket.readyState === socket.OPEN && this.#hasRoom()) {
      const [next] = this.#waiting;
      if (!next) return;
      this.#take(next);
      this.#write(next.text());
    }
  }

  #take(held: Waiting | undefined): void {
    if (!held || !this.#waiting.delete(held)) return;
    this.#waitingBytes -= held.bytes;
    if (held.callId !== undefined) this.#requests.delete(held.callId);
  }

  /** From a moment on in which something is unsent. */
  #watch(): void {
    if (this.#stopWatching) return;
    const { clock, socket } = this.#deps;
    const sentBefore = this.#sent;
    this.#stopWatching = afterWindow(clock, WINDOW_MS, (isOwnStall) => {
      this.#stopWatching = undefined;
      const isOver = socket.readyState !== socket.OPEN || socket.bufferedAmount === 0;
      if (isOver || this.#sent !== sentBefore) this.#silent = 0;
      else if (!isOwnStall) this.#silent += 1;
      if (this.#silent >= MOST_WINDOWS) return this.#deps.onStalled();
      if (!isOver) this.#watch();
    });
  }
}

function hold(message: OutboxMessage): Waiting {
  if (message.type === 'tool_call_request')
    return { text: () => JSON.stringify(message), bytes: 0, callId: idOf(message) };
  const text = JSON.stringify(message);
  return { text: () => text, bytes: Buffer.byteLength(text), callId: undefined };
}

const idOf = (message: OutboxMessage): string | undefined =>
  'id' in message ? message.id : undefined;
