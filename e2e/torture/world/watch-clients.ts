import { type ClientListing, watchServerMessageSchema } from '#lib/protocol/watch-messages';

/** Between two attempts to reach the server. */
const RETRY_MS = 50;

/** The list showed this of a client at a moment; undefined when it was in no list. */
export interface Sighting {
  readonly at: number;
  readonly listing: ClientListing | undefined;
}

/** Someone who looks at the list of clients all the time. */
export interface ClientWatch {
  now(name: string): ClientListing | undefined;
  /** Each change of what was shown of it, in order, in milliseconds of `performance.now()`. */
  sightings(name: string): readonly Sighting[];
  stop(): void;
}

/** It comes back to a server that was started anew; meanwhile no client is seen. */
export function watchClients({ url, token }: { url: string; token: string }): ClientWatch {
  const seen = new Map<string, Sighting[]>();
  let isOver = false;
  let socket = connect();

  function connect(): WebSocket {
    const next = new WebSocket(`${url.replace('http', 'ws')}/ws/watch`, [
      'callboard.v1',
      `bearer.${token}`,
    ]);
    next.addEventListener('open', () => next.send(JSON.stringify({ type: 'watch' })));
    next.addEventListener('error', () => {});
    next.addEventListener('close', () => {
      if (isOver) return;
      take([]);
      setTimeout(() => {
        if (!isOver) socket = connect();
      }, RETRY_MS);
    });
    next.addEventListener('message', ({ data }) => {
      const message = watchServerMessageSchema.parse(JSON.parse(String(data)));
      if (message.type === 'error') return;
      for (const one of message.type === 'batch' ? message.events : [message]) {
        if (one.type === 'snapshot' || one.type === 'clients') take(one.clients);
      }
    });
    return next;
  }

  function take(listings: readonly ClientListing[]): void {
    const at = performance.now();
    const byName = new Map(listings.map((listing) => [listing.name, listing]));
    for (const name of new Set([...seen.keys(), ...byName.keys()])) {
      const list = seen.get(name) ?? [];
      seen.set(name, list);
      const listing = byName.get(name);
      if (JSON.stringify(list.at(-1)?.listing) !== JSON.stringify(listing)) {
        list.push({ at, listing });
      }
    }
  }

  return {
    now: (name) => seen.get(name)?.at(-1)?.listing,
    sightings: (name) => seen.get(name) ?? [],
    stop() {
      isOver = true;
      socket.close();
    },
  };
}
