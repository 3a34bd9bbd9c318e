import type { ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';

/** Proxies close what is silent for a minute. */
export const HEARTBEAT_MS = 15_000;
/** A reader further behind is cut off; it comes back and is shown what it missed. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

export const EVENT_STREAM = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };

export interface EventWriterDeps {
  readonly clock: Clock;
  /** The server stops: the stream ends as a whole answer does. */
  readonly closing: AbortSignal;
}

export interface EventWriter {
  send(text: string): void;
  end(): void;
  /** The server stops already: nothing is sent. */
  readonly isOver: boolean;
}

/** Writes Server-Sent Events, with a comment now and then, to a reader that takes them. */
export function openEventWriter(
  { clock, closing }: EventWriterDeps,
  outgoing: ServerResponse,
): EventWriter {
  const send = (text: string) => {
    if (text === '' || outgoing.destroyed || outgoing.writableEnded) return;
    outgoing.write(text);
    if (outgoing.writableLength > MAX_UNSENT_BYTES) outgoing.destroy();
  };
  const stopHeartbeat = repeat(clock, HEARTBEAT_MS, () => send(': still here\n\n'));
  const end = () => void outgoing.end();
  closing.addEventListener('abort', end);
  outgoing.once('close', () => {
    stopHeartbeat();
    closing.removeEventListener('abort', end);
  });
  outgoing.flushHeaders();
  if (closing.aborted) end();
  return { send, end, isOver: closing.aborted };
}

function repeat(clock: Clock, ms: number, tick: () => void): () => void {
  const again = () => {
    cancel = clock.schedule(ms, again);
    tick();
  };
  let cancel = clock.schedule(ms, again);
  return () => cancel();
}
