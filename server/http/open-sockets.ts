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
  capacityProblem(): HttpError | undefined;
  /** Closes it when the caller's sign-in ends or its token is revoked. Returns what is called once it has closed. */
  add(one: Closable, principal: Caller): () => void;
  /** Closes all, and refuses further ones. */
  close(code: number, reason: string): void;
}

const MOST_SOCKETS = 2_000;

export function createOpenSockets(followed: Followed, maxSockets = MOST_SOCKETS): OpenSockets {
  const open = new Set<Closable>();
  let closing = false;
  return {
    get count() {
      return open.size;
    },
    capacityProblem() {
      if (closing)
        return new HttpError('shutting_down', 'The server is stopping; connect again soon.');
      if (open.size < maxSockets) return undefined;
      return new HttpError('rate_limited', `All ${maxSockets} sockets are in use.`, {
        retryAfter: 10,
      });
    },
    add(one, principal) {
      open.add(one);
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
      for (const one of open) one.close(code, reason);
    },
  };
}
