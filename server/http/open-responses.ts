import type { ServerResponse } from 'node:http';
import { Counts } from '#lib/limits/counts';
import { HttpError } from '#lib/protocol/http-error';
import { type Caller, isAdmin, principalKey } from '../auth/room.ts';
import type { OutboundBudget, OutboundShare } from '../sockets/room.ts';

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
