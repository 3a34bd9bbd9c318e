import { timingSafeEqual } from 'node:crypto';
import { keepNewest } from '#lib/limits/keep-newest';
import { createEmitter, type Emitter } from '#lib/util/emitter';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { SessionRecord, Store } from '../store/room.ts';
import { hashSecret } from './secrets.ts';

/** A sign-in that was not used for so long has ended. */
export const SESSION_IDLE_MS = 12 * 60 * 60_000;
/** However much it is used. */
export const SESSION_MAX_MS = 7 * 24 * 60 * 60_000;
/** Use is written down this often at most, and looked for this often where a socket is open. */
export const SESSION_RENEW_MS = 60 * 60_000;
/**
 * Another port of this host may plant cookies of our name. 16 KiB of headers, Node's limit, hold
 * fewer of them than this, so that none hides the right one.
 */
const MAX_CANDIDATES = 600;
/** That are in memory. */
const MOST_FOUND = 1_000;
/** Browsers take a cookie with it only by https, of this host itself, and for all its paths. */
const SECURE_PREFIX = '__Host-';

export interface SignedIn {
  /** The value for `Set-Cookie`. */
  readonly cookie: string;
  /** For the page, which sends it with each request: never in a cookie or a URL. */
  readonly key: string;
}

export interface LiveSession {
  readonly id: string;
  readonly tokenId: string | null;
}

export interface SessionsDeps {
  readonly store: Pick<Store, 'write' | 'findSession'>;
  readonly clock: Clock;
  /** 256 random bits as text that a cookie, a header and a subprotocol can carry. */
  readonly newSecret: () => string;
  /** Sets this server's cookie apart from those of others on the same host. */
  readonly instanceId: string;
  readonly logger: Logger;
}

/**
 * Sign-ins of people. Two secrets make one: the browser holds the first in a
 * cookie that scripts cannot read, and sends it to every port of this host; the
 * second, the key, only pages of our origin have. The store holds their hashes,
 * `<cookie's>:<key's>`, which is a session's id.
 */
export class Sessions {
  readonly #deps: SessionsDeps;
  readonly #names: ReadonlySet<string>;
  readonly #ends: Emitter<string>;
  /** Sessions that were found, by the cookie's hash, as they are on disk or newer. The token may have been revoked. */
  readonly #found = new Map<string, SessionRecord>();
  readonly cookieName: string;
  readonly #held = new Map<string, Held>();

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
    this.#ends = createEmitter(deps.logger.error);
    this.cookieName = `callboard_session_${deps.instanceId}`;
    this.#names = new Set([this.cookieName, SECURE_PREFIX + this.cookieName]);
  }

  /**
   * Makes a session of the holder of this token, durably; null is that of the first run. By https
   * its cookie has another name, so that one by http on the same host stays beside it.
   */
  async signIn(tokenId: string | null, isSecure: boolean): Promise<SignedIn> {
    const { newSecret, clock, store } = this.#deps;
    const [secret, key] = [newSecret(), newSecret()];
    const idHash = `${hashSecret(secret)}:${hashSecret(key)}`;
    const createdAt = clock.now();
    const session = { idHash, createdAt, expiresAt: createdAt + SESSION_IDLE_MS, tokenId };
    await store.write([{ type: 'put_session', session }]);
    const lives = `Max-Age=${SESSION_MAX_MS / 1_000}`;
    return { cookie: this.#toCookie(secret, lives, isSecure), key };
  }

  #toCookie(value: string, lives: string, isSecure: boolean): string {
    const attributes = 'Path=/; HttpOnly; SameSite=Strict';
    return isSecure
      ? `${SECURE_PREFIX}${this.cookieName}=${value}; ${lives}; ${attributes}; Secure`
      : `${this.cookieName}=${value}; ${lives}; ${attributes}`;
  }

  /** The live session of one of these cookies and this key. */
  find(cookieHeader: string | undefined, key: string): Promise<LiveSession | undefined> {
    const keyHash = Buffer.from(hashSecret(key));
    return this.#findFitting(cookieHeader, ({ idHash }) => {
      const wanted = Buffer.from(idHash.slice(idHash.indexOf(':') + 1));
      return wanted.length === keyHash.length && timingSafeEqual(wanted, keyHash);
    });
  }

  /** The same without the key: enough for a page, which shows no data. */
  findByCookie(cookieHeader: string | undefined): Promise<LiveSession | undefined> {
    return this.#findFitting(cookieHeader, () => true);
  }

  /** A session that was found goes on; false where it is not in memory. It counts as use. */
  isLive(sessionId: string): boolean {
    const session = this.#inMemory(cookieHashOf(sessionId));
    if (session?.idHash !== sessionId) return false;
    this.#renew(session);
    return true;
  }

  /** Ends a session, durably, and notifies the listeners; the value for `Set-Cookie`. */
  async signOut(sessionId: string, isSecure: boolean): Promise<string> {
    await this.#deps.store.write([{ type: 'delete_session', idHash: sessionId }]);
    this.#found.delete(cookieHashOf(sessionId));
    this.#ends.emit(sessionId);
    return this.#toCookie('', 'Max-Age=0', isSecure);
  }

  /** Called with each held session that ends, so that its sockets end with it. Returns a function that unsubscribes. */
  onEnd(listener: (sessionId: string) => void): () => void {
    return this.#ends.subscribe(listener);
  }

  #inMemory(cookieHash: string): SessionRecord | undefined {
    const session = this.#found.get(cookieHash);
    return session && session.expiresAt > this.#deps.clock.now() ? session : undefined;
  }

  async #findLive(cookieHash: string): Promise<SessionRecord | undefined> {
    const session = await this.#deps.store.findSession(cookieHash);
    return session && session.expiresAt > this.#deps.clock.now() ? session : undefined;
  }

  async #findFitting(
    cookieHeader: string | undefined,
    fits: (session: SessionRecord) => boolean,
  ): Promise<LiveSession | undefined> {
    for (const secret of readCookies(cookieHeader, this.#names)) {
      const cookieHash = hashSecret(secret);
      const session = this.#inMemory(cookieHash) ?? (await this.#findLive(cookieHash));
      if (!session || !fits(session)) continue;
      this.#found.set(cookieHash, session);
      keepNewest(this.#found, MOST_FOUND);
      const { idHash: id, tokenId } = this.#renew(session);
      return { id, tokenId };
    }
    return undefined;
  }

  /** Never brings back a session that ended meanwhile: the store changes a row that is there. */
  #renew(session: SessionRecord): SessionRecord {
    const { clock, store, logger } = this.#deps;
    const until = clock.now() + SESSION_IDLE_MS;
    const expiresAt = Math.min(until, session.createdAt + SESSION_MAX_MS);
    if (expiresAt - session.expiresAt < SESSION_RENEW_MS) return session;
    const renewed = { ...session, expiresAt };
    const cookieHash = cookieHashOf(session.idHash);
    if (this.#found.has(cookieHash)) this.#found.set(cookieHash, renewed);
    store.write([{ type: 'renew_session', session: renewed }]).catch(logger.error);
    return renewed;
  }

  /** Counts as use until the returned function is called; on its last day the session ends all the same. */
  hold(sessionId: string): () => void {
    const held = this.#held.get(sessionId) ?? { count: 0, cancel: () => {} };
    held.count += 1;
    this.#held.set(sessionId, held);
    // Each time: it may have ended between the request and this, while others still let go of it.
    this.#watch(sessionId, held);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      held.count -= 1;
      if (held.count > 0) return;
      held.cancel();
      this.#held.delete(sessionId);
    };
  }

  /** A session that cannot be read proves nothing, so it ends. */
  #watch(sessionId: string, held: Held): void {
    this.#renewOrEnd(sessionId, held).catch((error: unknown) => {
      this.#deps.logger.error(error);
      this.#ends.emit(sessionId);
    });
  }

  async #renewOrEnd(sessionId: string, held: Held): Promise<void> {
    const live = await this.#findLive(cookieHashOf(sessionId));
    if (this.#held.get(sessionId) !== held) return;
    if (!live) return this.#ends.emit(sessionId);
    const { clock } = this.#deps;
    const left = this.#renew(live).expiresAt - clock.now();
    const next = () => this.#watch(sessionId, held);
    held.cancel();
    held.cancel = clock.schedule(Math.min(SESSION_RENEW_MS, left), next);
  }
}

/** A session that is held by so many. */
interface Held {
  count: number;
  cancel: () => void;
}

const cookieHashOf = (idHash: string): string => idHash.slice(0, idHash.indexOf(':'));

/** The different values of our cookie: browsers send one for each path and domain it was set for. */
function readCookies(header: string | undefined, names: ReadonlySet<string>): string[] {
  const values = new Set<string>();
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=');
    const value = pair.slice(at + 1).trim();
    if (at > 0 && names.has(pair.slice(0, at).trim()) && value !== '') values.add(value);
    if (values.size === MAX_CANDIDATES) break;
  }
  return [...values];
}

export const SIGN_IN_CODE_MS = 10 * 60_000;

export type SignInCodes = ReturnType<typeof createSignInCodes>;

/**
 * One-time links for signing in. A code dies on its first use or after ten
 * minutes; several may live at once. Kept in memory: a restart ends them all.
 */
export function createSignInCodes(deps: {
  readonly clock: Clock;
  /** 256 random bits as text that a path can carry. */
  readonly newSecret: () => string;
}) {
  const expiries = new Map<string, number>();

  const sweep = () => {
    const now = deps.clock.now();
    for (const [hash, expiresAt] of expiries) if (expiresAt <= now) expiries.delete(hash);
  };

  return {
    /** The path to open, e.g. `/sign-in/…`. The only secret that is ever in a URL. */
    make(): string {
      sweep();
      const code = deps.newSecret();
      expiries.set(hashSecret(code), deps.clock.now() + SIGN_IN_CODE_MS);
      return `/sign-in/${code}`;
    },
    /** True once per code. */
    consume(code: string): boolean {
      sweep();
      // By hash: how long a look-up takes then reveals nothing about the code.
      return expiries.delete(hashSecret(code));
    },
  };
}
