import { getHeapStatistics } from 'node:v8';
import { Counts, hasFairShare } from '#lib/limits/counts';
import { HttpError } from '#lib/protocol/http-error';
import { CLOSE } from '#lib/protocol/server-messages';
import { type Caller, type Followed, followCaller, isAdmin, principalKey } from '../auth/room.ts';

/** A socket, or a stream that takes its place. */
interface Closable {
  close(code: number, reason: string): void;
}

/** Sockets of one kind keep out none of the other. */
export type SocketUse = 'client' | 'watcher';

export type OpenSockets = ReturnType<typeof createOpenSockets>;

/** A client with a few tools takes about half of it. */
const BYTES_OF_CLIENT = 128 * 1024;
/** Clients take a quarter of the memory at most, and half of the 10,000 connections. */
const MOST_SOCKETS: Record<SocketUse, number> = {
  client: Math.min(5_000, Math.floor(getHeapStatistics().heap_size_limit / 4 / BYTES_OF_CLIENT)),
  watcher: 2_000,
};
/** One device, or one person who watches, may have a page in so many tabs. */
const MOST_TABS = 64;

/** All that is open to clients and watchers, until the server stops. */
export function createOpenSockets(followed: Followed, most = MOST_SOCKETS) {
  const open = { client: new Set<Closable>(), watcher: new Set<Closable>() };
  const ofToken = { client: new Counts(), watcher: new Counts() };
  /** One token has its share at most: none but an administrator's keeps out another. */
  const mayHaveMore = (caller: Caller, use: SocketUse): boolean => {
    const own = ofToken[use].of(principalKey(caller));
    const hasTabs = caller.kind === 'device' || use === 'watcher';
    return (!hasTabs || own < MOST_TABS) && hasFairShare(own, open[use].size, most[use]);
  };
  let closing = false;
  return {
    get count(): number {
      return open.client.size + open.watcher.size;
    },
    /** Why one more of the caller is refused now. */
    capacityProblem(caller: Caller, use: SocketUse): HttpError | undefined {
      if (closing)
        return new HttpError('shutting_down', 'The server is stopping; connect again soon.');
      const isFull = open[use].size >= most[use];
      if (!isFull && (isAdmin(caller) || mayHaveMore(caller, use))) return undefined;
      const problem = isFull
        ? `All ${most[use]} sockets for ${use}s are in use.`
        : `This token has its share of the sockets and streams for ${use}s; close one first.`;
      return new HttpError('rate_limited', problem, { retryAfter: 10 });
    },
    /** Closes it when the caller's sign-in ends or its token is revoked. Returns what is called once it has closed. */
    add(one: Closable, principal: Caller, use: SocketUse): () => void {
      open[use].add(one);
      const leave = ofToken[use].enter(principalKey(principal));
      // A page that is open is in use, also without a click.
      const release = followCaller(followed, principal, () =>
        one.close(CLOSE.unauthenticated, 'signed out, or the token was revoked'),
      );
      return () => {
        if (open[use].delete(one)) leave?.();
        release();
      };
    },
    /** Closes all, and refuses further ones. */
    close(code: number, reason: string): void {
      closing = true;
      for (const one of [...open.client, ...open.watcher]) one.close(code, reason);
    },
  };
}
