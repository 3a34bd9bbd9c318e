import { createStore, type StoreApi } from 'zustand/vanilla';

/** How the watch feed stands. `retryAt` is in milliseconds since the epoch. */
export type FeedState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'reconnecting'; readonly attempt: number; readonly retryAt: number }
  /** The browser says there is no network; we wait for it to come back. */
  | { readonly kind: 'offline' }
  /** Signed out: trying again would not help. */
  | { readonly kind: 'refused' };

export interface ConnectionState {
  readonly feed: FeedState;
  /** Since when there is no news, in milliseconds; null while connected, and before the first connection. */
  readonly lostAt: number | null;
  /** After a reconnect: how many events were missed and are now in; null when a snapshot came instead. */
  readonly caughtUp: { readonly events: number | null; readonly at: number } | null;
  /** The server told, since the connection was lost, that it cannot write its record. */
  readonly storeFailed: boolean;
  /** The person is signing out, so that losing the session is no news. */
  readonly signingOut: boolean;
}

export type ConnectionStore = StoreApi<ConnectionState>;

export const createConnectionStore = (): ConnectionStore =>
  createStore<ConnectionState>(() => ({
    feed: { kind: 'connecting' },
    lostAt: null,
    caughtUp: null,
    storeFailed: false,
    signingOut: false,
  }));

/** A new state of the feed: the time of the loss is that of the first state after a connection. */
export const feedChanged =
  (feed: FeedState, now: number) =>
  (before: ConnectionState): Pick<ConnectionState, 'feed' | 'lostAt'> => {
    if (feed.kind === 'connected') return { feed, lostAt: null };
    return { feed, lostAt: before.feed.kind === 'connected' ? now : before.lostAt };
  };

export interface KeepStoreFailedDeps {
  readonly connection: ConnectionStore;
  /** Asks whether the server takes work, and if not, for the code that says why. */
  isReady(): Promise<{ readonly ok: true } | { readonly ok: false; readonly code: string }>;
}

/**
 * A server that cannot write its record lets nobody connect, yet answers when it is
 * asked why. It is asked once for each failed attempt, so that people learn of the disk.
 */
export function keepStoreFailed({ connection, isReady }: KeepStoreFailedDeps): () => void {
  let latest = 0;
  const set = (storeFailed: boolean) => {
    if (connection.getState().storeFailed !== storeFailed) connection.setState({ storeFailed });
  };
  const ask = async () => {
    latest += 1;
    const mine = latest;
    const answer = await isReady();
    if (mine === latest) set(!answer.ok && answer.code === 'store_failed');
  };
  const stop = connection.subscribe((now, before) => {
    if (now.feed === before.feed) return;
    if (now.feed.kind === 'reconnecting') return void ask();
    if (now.feed.kind === 'connecting') return;
    // Connected, offline or signed out: what was told before says nothing any more.
    latest += 1;
    set(false);
  });
  return () => {
    latest += 1;
    stop();
  };
}
