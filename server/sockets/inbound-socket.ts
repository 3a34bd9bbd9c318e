import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { InboundBudget } from './inbound-budget.ts';

/** What comes in by one socket, as far as it takes memory. */
export interface InboundSocket {
  /** For as long as a frame that has come is handled nothing more is read. */
  pause(): void;
  resume(): void;
  /** A frame that waits to be handled, until the returned function is called. */
  hold(bytes: number): () => void;
  /** Called while a large frame is on its way: its sender can say nothing else meanwhile. */
  onArriving(listener: () => void): void;
}

type Reason = 'handling' | 'budget';

/** Frames of two kinds of bytes that say nothing of a message: with the mask of a client. */
const CONTROL_BYTES = 6;
/** A frame that takes more than one read of the socket. */
const LARGE_BYTES = 64 * 1024;

/** Counts what a socket has sent of a frame that is not complete, and what waits to be handled. */
export function watchInbound(
  budget: InboundBudget,
  ws: Pick<WebSocket, 'on' | 'pause' | 'resume' | 'terminate'>,
  stream: Pick<Socket, 'on' | 'bytesRead'>,
): InboundSocket {
  const { pause, resume } = createReading(ws);
  const listeners: (() => void)[] = [];
  /** Up to here all was complete messages. */
  let complete = stream.bytesRead;
  let arriving = 0;
  let waiting = 0;
  let isClosed = false;

  const share = budget.open({
    pause: () => pause('budget'),
    resume: () => resume('budget'),
    // It does not read what it is sent, or sends too slowly: no close frame would help.
    cut: () => ws.terminate(),
  });
  const count = () => {
    arriving = isClosed ? 0 : Math.max(0, stream.bytesRead - complete);
    share.set({ arriving, waiting });
  };
  const isControl = (data: Buffer) => {
    complete += data.length + CONTROL_BYTES;
  };

  stream.on('data', () => {
    if (stream.bytesRead <= complete && arriving === 0) return;
    count();
    if (arriving > LARGE_BYTES) for (const listener of listeners) listener();
  });
  ws.on('message', () => {
    complete = stream.bytesRead;
    // Not before its listener has said that it waits.
    if (arriving > 0) queueMicrotask(count);
  });
  ws.on('ping', isControl);
  ws.on('pong', isControl);
  ws.on('close', () => {
    isClosed = true;
    count();
  });
  return {
    pause: () => pause('handling'),
    resume: () => resume('handling'),
    hold(bytes) {
      waiting += bytes;
      count();
      return () => {
        waiting -= bytes;
        count();
      };
    },
    onArriving: (listener) => void listeners.push(listener),
  };
}

/** A socket is read while there is no reason not to. */
function createReading(ws: Pick<WebSocket, 'pause' | 'resume'>) {
  const reasons = new Set<Reason>();
  return {
    pause(reason: Reason): void {
      if (reasons.size === 0) ws.pause();
      reasons.add(reason);
    },
    resume(reason: Reason): void {
      if (reasons.delete(reason) && reasons.size === 0) ws.resume();
    },
  };
}
