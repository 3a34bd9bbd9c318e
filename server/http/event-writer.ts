import type { ServerResponse } from 'node:http';
import { type Caller, followCaller } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { HttpDeps } from './http-deps.ts';
import type { HttpResponse } from './response.ts';

/** Proxies close what is silent for a minute. */
export const HEARTBEAT_MS = 15_000;
/** A reader further behind is cut off; it comes back and is shown what it missed. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

const EVENT_STREAM = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };

export interface EventWriter {
  send(text: string): void;
  end(): void;
  /** Cuts the reader off, who comes back. */
  destroy(): void;
  /** The server stops already: nothing is sent. */
  readonly isOver: boolean;
}

/**
 * Writes Server-Sent Events, with a comment now and then, to a reader that takes them. The stream
 * ends as a whole answer does when the server stops.
 */
function openEventWriter({ clock, closing }: HttpDeps, outgoing: ServerResponse): EventWriter {
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
  return { send, end, destroy: () => void outgoing.destroy(), isOver: closing.aborted };
}

function repeat(clock: Clock, ms: number, tick: () => void): () => void {
  const again = () => {
    cancel = clock.schedule(ms, again);
    tick();
  };
  let cancel = clock.schedule(ms, again);
  return () => cancel();
}

/**
 * Server-Sent Events for a caller, until that one may have them no more. `begin` gives the function
 * that is called once the reader has left.
 */
export const eventResponse = (
  deps: HttpDeps,
  caller: Caller,
  begin: (writer: EventWriter) => () => void,
): HttpResponse => ({
  status: 200,
  headers: EVENT_STREAM,
  stream(outgoing) {
    const unfollow = followCaller(deps, caller, () => void outgoing.end());
    outgoing.once('close', unfollow);
    outgoing.once('close', begin(openEventWriter(deps, outgoing)));
  },
});
