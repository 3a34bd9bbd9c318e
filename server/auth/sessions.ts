import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import { hashSecret } from './hash-secret.ts';

export const SESSION_COOKIE = 'callboard_session';
export const SESSION_MS = 30 * 24 * 60 * 60_000;

/**
 * Sign-ins of people. The browser holds the secret in a cookie that scripts
 * cannot read; the store holds its hash. A session's id is that hash.
 */
export interface Sessions {
  /** Makes a session, durably; the value for `Set-Cookie`. */
  signIn(): Promise<string>;
  /** The id of the live session that this `Cookie` header carries. */
  find(cookieHeader: string | undefined): Promise<string | undefined>;
  /** Ends a session, durably, and tells the listeners; the value for `Set-Cookie`. */
  signOut(sessionId: string): Promise<string>;
  /** Called with each session that ends, so that its sockets end with it. Returns its undo. */
  onSignOut(listener: (sessionId: string) => void): () => void;
}

export function createSessions(deps: {
  readonly store: Pick<Store, 'write' | 'getSession'>;
  readonly clock: Clock;
  /** 256 random bits as text that a cookie can carry. */
  readonly newSecret: () => string;
  /** True when people reach the server by https. */
  readonly secure: boolean;
}): Sessions {
  const listeners = new Set<(sessionId: string) => void>();
  const attributes = `Path=/; HttpOnly; SameSite=Strict${deps.secure ? '; Secure' : ''}`;

  return {
    async signIn() {
      const secret = deps.newSecret();
      const createdAt = deps.clock.now();
      const expiresAt = createdAt + SESSION_MS;
      await deps.store.write([
        { type: 'put_session', session: { idHash: hashSecret(secret), createdAt, expiresAt } },
      ]);
      return `${SESSION_COOKIE}=${secret}; Max-Age=${SESSION_MS / 1_000}; ${attributes}`;
    },
    async find(cookieHeader) {
      const secret = readCookie(cookieHeader);
      if (secret === undefined) return undefined;
      const session = await deps.store.getSession(hashSecret(secret));
      return session && session.expiresAt > deps.clock.now() ? session.idHash : undefined;
    },
    async signOut(sessionId) {
      await deps.store.write([{ type: 'delete_session', idHash: sessionId }]);
      for (const listener of listeners) listener(sessionId);
      return `${SESSION_COOKIE}=; Max-Age=0; ${attributes}`;
    },
    onSignOut(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Our cookie's value; undefined when the header has none, or none that we could have made. */
export function readCookie(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === SESSION_COOKIE && value) return value;
  }
  return undefined;
}
