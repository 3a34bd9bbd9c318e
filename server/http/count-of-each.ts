import type { ServerResponse } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import { type Caller, isAdmin } from '../auth/room.ts';
import { whenClosed } from './when-closed.ts';

/** Bounds what each, such as an address or a token, may have going on at a time. */
export function createCountOfEach(max: number) {
  const counts = new Map<string, number>();
  return {
    /** Undefined when it has too many; else a function that releases it, to be called once. */
    enter(each: string): (() => void) | undefined {
      const count = (counts.get(each) ?? 0) + 1;
      if (count > max) return undefined;
      counts.set(each, count);
      return () => {
        const left = (counts.get(each) ?? 1) - 1;
        if (left > 0) counts.set(each, left);
        else counts.delete(each);
      };
    },
  };
}

const RETRY_S = 5;

/**
 * Takes one of the places of a token, until the response is closed; administrators need none. Throws
 * `rate_limited` when there is none left.
 */
export type TakePlace = (caller: Caller, outgoing: ServerResponse) => void;

/** Each token has `most` places; `problem` is what one more is refused with. */
export function createPlaces(most: number, problem: string): TakePlace {
  const places = createCountOfEach(most);
  return (caller, outgoing) => {
    if (isAdmin(caller)) return;
    const leave = places.enter(`${caller.kind} ${caller.tokenId}`);
    if (!leave) throw new HttpError('rate_limited', problem, { retryAfter: RETRY_S });
    whenClosed(outgoing, leave);
  };
}
