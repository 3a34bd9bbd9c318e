/** Who this client is to the server, kept so that it can come back as the same. */
export interface ClientIdentity {
  /** Undefined before the server has given one. */
  clientId(): string | undefined;
  /** Proves that we are that client; changes with each welcome. */
  resumeToken(): string | undefined;
  save(known: { clientId: string; resumeToken: string }): void;
}

/** The part of the Web Storage API that is used here. */
export type KeyValueStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const CLIENT_KEY = 'callboard:client';
const TOKEN_KEY = 'callboard:resume';

/**
 * Tabs of one browser share a client id; the token is each tab's own, for it
 * stands for one instance of the client. A tab that was given an id of its own
 * keeps it, whatever the others do (CL16).
 */
export function createStoredIdentity({
  shared,
  own,
}: {
  /** Of all tabs: `localStorage`. */
  shared: KeyValueStorage;
  /** Of this tab: `sessionStorage`. */
  own: KeyValueStorage;
}): ClientIdentity {
  return {
    clientId: () => own.getItem(CLIENT_KEY) ?? shared.getItem(CLIENT_KEY) ?? undefined,
    resumeToken: () => own.getItem(TOKEN_KEY) ?? undefined,
    save(known) {
      own.setItem(CLIENT_KEY, known.clientId);
      own.setItem(TOKEN_KEY, known.resumeToken);
      shared.setItem(CLIENT_KEY, known.clientId);
    },
  };
}

/** For a program that keeps nothing, or passes in what it kept. */
export function createMemoryIdentity(
  known: { clientId?: string; resumeToken?: string } = {},
): ClientIdentity {
  let now = known;
  return {
    clientId: () => now.clientId,
    resumeToken: () => now.resumeToken,
    save(next) {
      now = next;
    },
  };
}
