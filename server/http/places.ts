import type { ServerResponse } from 'node:http';
import { Counts } from '#lib/limits/counts';
import { HttpError } from '#lib/protocol/http-error';
import { type Caller, isAdmin, principalKey } from '../auth/room.ts';
import { whenClosed } from './when-closed.ts';

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
