import { HttpError } from '#lib/protocol/http-error';
import { CLOSE } from '#lib/protocol/server-messages';
import { type Followed, followCaller } from '../auth/follow-caller.ts';
import type { Caller } from '../auth/principal.ts';

/** A socket, or a stream that takes its place. */
interface Closable {
  close(code: number, reason: string): void;
}

/** All that is open to clients and watchers, until the server stops. */
export interface OpenSockets {
  readonly count: number;
  /** Why one more of the caller is refused now. */
  capacityProblem(caller: Caller): HttpError | undefined;
  /** Closes it when the caller's sign-in ends or its token is revoked. Returns what is called once it has closed. */
  add(one: Closable, principal: Caller): () => void;
  /** Closes all, and refuses further ones. */
  close(code: number, reason: string): void;
}

const MOST_SOCKETS = 2_000;
/** Of one device, which has a page in each of its tabs: so that it keeps out no other, and no person. */
const MOST_OF_DEVICE = 64;

export function createOpenSockets(followed: Followed, maxSockets = MOST_SOCKETS): OpenSockets {
  const open = new Map<Closable, Caller>();
  const isFull = ({ kind, tokenId }: Caller): boolean =>
    kind === 'device' &&
    [...open.values()].filter((one) => one.kind === kind && one.tokenId === tokenId).length >=
      MOST_OF_DEVICE;
  let closing = false;
  return {
    get count() {
      return open.size;
    },
    capacityProblem(caller) {
      if (closing)
        return new HttpError('shutting_down', 'The server is stopping; connect again soon.');
      const isFullOfDevice = isFull(caller);
      if (open.size < maxSockets && !isFullOfDevice) return undefined;
      const problem = isFullOfDevice
        ? `A device has ${MOST_OF_DEVICE} sockets and streams at most; close one first.`
        : `All ${maxSockets} sockets are in use.`;
      return new HttpError('rate_limited', problem, { retryAfter: 10 });
    },
    add(one, principal) {
      open.set(one, principal);
      // A page that is open is in use, also without a click.
      const release = followCaller(followed, principal, () =>
        one.close(CLOSE.unauthenticated, 'signed out, or the token was revoked'),
      );
      return () => {
        open.delete(one);
        release();
      };
    },
    close(code, reason) {
      closing = true;
      for (const one of open.keys()) one.close(code, reason);
    },
  };
}
