import type { ServerResponse } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import { type Caller, isAdmin } from '../auth/room.ts';
import type { createCountOfEach } from './count-of-each.ts';
import { whenClosed } from './when-closed.ts';

const RETRY_S = 5;

/**
 * Takes one of the places of a token, until the response is closed; administrators need none. Throws
 * `rate_limited`, with the problem, when there is none left.
 */
export function takePlace(
  places: ReturnType<typeof createCountOfEach>,
  caller: Caller,
  outgoing: ServerResponse,
  problem: string,
): void {
  if (isAdmin(caller)) return;
  const leave = places.enter(`${caller.kind} ${caller.tokenId}`);
  if (!leave) throw new HttpError('rate_limited', problem, { retryAfter: RETRY_S });
  whenClosed(outgoing, leave);
}
