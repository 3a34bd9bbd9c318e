import type { ConnectionStore } from './connection-store.ts';

export interface KeepStoreFailedDeps {
  readonly connection: ConnectionStore;
  /** Whether the server takes work, and if not, the code that says why. */
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
