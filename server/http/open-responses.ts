import type { ServerResponse } from 'node:http';
import { Counts } from '#lib/limits/counts';
import { HttpError } from '#lib/protocol/http-error';
import { type Caller, followCaller, isAdmin, principalKey } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { OutboundBudget, OutboundShare } from '../sockets/room.ts';
import type { HttpDeps } from './http-deps.ts';
import type { HttpResponse } from './response.ts';

const RETRY_S = 5;

/**
 * Takes one of the places of a token, until the response is closed; administrators need none. Throws
 * `rate_limited` when there is none left.
 */
export type TakePlace = (caller: Caller, outgoing: ServerResponse) => void;

/** Each token has `most` places; `problem` is what one more is refused with. */
export function createPlaces(most: number, problem: string): TakePlace {
  const places = new Counts();
  return (caller, outgoing) => {
    if (isAdmin(caller)) return;
    const leave = places.enter(principalKey(caller), most);
    if (!leave) throw new HttpError('rate_limited', problem, { retryAfter: RETRY_S });
    whenClosed(outgoing, leave);
  };
}

/** A token has as many streams of a kind as runs of a program may have a turn at a time. */
const MOST_STREAMS = 64;

export const createStreamPlaces = (what: string): TakePlace =>
  createPlaces(
    MOST_STREAMS,
    `${MOST_STREAMS} ${what} are open with this token. Close one first, or wait for its end.`,
  );

const ENDINGS = Symbol('endings');

interface Exchange extends ServerResponse {
  [ENDINGS]?: (() => void)[];
}

/**
 * Calls back, in the order of the calls here, once the response is sent or its caller has left; at
 * once where that is so. One listener of each response serves all who wait for it.
 */
export function whenClosed(outgoing: Exchange, work: () => void): void {
  if (outgoing.destroyed) return work();
  const known = outgoing[ENDINGS];
  if (known) return void known.push(work);
  const all = [work];
  outgoing[ENDINGS] = all;
  outgoing.once('close', () => {
    for (const one of all) one();
  });
}

/** Resolves when the response may be made, and has its room until it is sent. Throws `rate_limited` when too many wait. */
export async function roomFor(
  outbound: OutboundBudget,
  outgoing: ServerResponse,
  bytes: number,
  holder: string,
): Promise<OutboundShare> {
  const share = outbound.open(
    {
      sentBytes: () => outgoing.socket?.bytesWritten ?? 0,
      // Before its first byte it is the server that takes long.
      cut: () => void (outgoing.headersSent && outgoing.destroy()),
    },
    bytes,
    holder,
  );
  whenClosed(outgoing, share.release);
  if (await share.admitted) return share;
  throw new HttpError('rate_limited', 'Too many large responses are asked for at once.', {
    retryAfter: 1,
  });
}

/** Proxies close what is silent for a minute. */
export const HEARTBEAT_MS = 15_000;
/** A reader further behind is cut off; it comes back and is shown what it missed. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

const EVENT_STREAM = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };

export type EventWriter = ReturnType<typeof openEventWriter>;

/**
 * Writes Server-Sent Events, with a comment now and then, to a reader that takes them. The stream
 * ends as a whole answer does when the server stops.
 */
function openEventWriter({ clock, closing }: HttpDeps, outgoing: ServerResponse) {
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
  return {
    send,
    end,
    /** Cuts the reader off, who comes back. */
    destroy: () => void outgoing.destroy(),
    /** The server stops already: nothing is sent. */
    isOver: closing.aborted,
  };
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
