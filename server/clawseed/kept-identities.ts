import { FairMap } from '#lib/util/fair-map';

/** What a hello proves that it is the same client with. */
export interface KeptIdentity {
  readonly client_id: string;
  readonly instance_id?: string;
  readonly resume_token: string;
}

/** Of sessions whose socket has closed. */
export interface KeptIdentities {
  keep(owner: string, key: string, identity: KeptIdentity): void;
  /** Given to one connection. */
  take(key: string): KeptIdentity | undefined;
}

const MOST = 1_000;

/**
 * A ClawSeed app has no resume token: for one that comes back with its session
 * and its token the server keeps it, so that the app's open calls are still its
 * own (rule CLS10). In memory: a restart makes it a new client.
 */
export function createKeptIdentities(most = MOST): KeptIdentities {
  const kept = new FairMap<KeptIdentity>(most);
  return {
    keep(owner, key, identity) {
      kept.put(owner, key, identity);
    },
    take(key) {
      const identity = kept.get(key);
      kept.delete(key);
      return identity;
    },
  };
}
