import type { WebSocket } from 'ws';
import type { ServerMessage } from '#lib/protocol/server-messages';

/** What a client may leave unread: the socket's own buffer, and what waits for it here. */
const MOST_UNSENT_BYTES = 4 * 1024 * 1024;
/** Above this nothing more is handed to the socket until it has sent some. */
const PAUSE_ABOVE_BYTES = 1024 * 1024;

export interface OutboxDeps {
  readonly socket: Pick<WebSocket, 'send' | 'bufferedAmount' | 'readyState' | 'OPEN'>;
  /** Before each frame. */
  onSend(): void;
  /** The client asks and does not read. */
  onFull(): void;
}

/**
 * Messages to one client, in order (rule UN1). A request of a call waits as the
 * message that it is, which is in memory with its call; so many large ones may be
 * due at one moment. All else has an answer's text, and counts.
 */
export function createOutbox(deps: OutboxDeps): (message: ServerMessage) => void {
  const { socket, onSend, onFull } = deps;
  const waiting: Waiting[] = [];
  let waitingBytes = 0;

  const hasRoom = () => socket.bufferedAmount <= PAUSE_ABOVE_BYTES;

  function write(text: string): void {
    onSend();
    socket.send(text, pump);
  }

  /** Called after each frame that went out, or could not. */
  function pump(): void {
    while (socket.readyState === socket.OPEN && hasRoom()) {
      const next = waiting.shift();
      if (!next) return;
      waitingBytes -= next.bytes;
      write(next.text());
    }
  }

  return (message) => {
    if (waiting.length === 0 && hasRoom()) return write(JSON.stringify(message));
    const held = hold(message);
    waiting.push(held);
    waitingBytes += held.bytes;
    if (waitingBytes + socket.bufferedAmount > MOST_UNSENT_BYTES) onFull();
  };
}

interface Waiting {
  text(): string;
  /** That it takes of memory by waiting. */
  readonly bytes: number;
}

function hold(message: ServerMessage): Waiting {
  if (message.type === 'tool_call_request')
    return { text: () => JSON.stringify(message), bytes: 0 };
  const text = JSON.stringify(message);
  return { text: () => text, bytes: Buffer.byteLength(text) };
}
