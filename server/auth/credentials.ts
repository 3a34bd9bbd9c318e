import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import { readCredentialProtocol, SESSION_HEADER } from '#lib/protocol/subprotocols';
import type { FailedAttempts } from './failed-attempts.ts';
import { isForeignFetch } from './host-gate.ts';
import type { Caller, Operator } from './principal.ts';
import type { Sessions } from './sessions.ts';
import type { Tokens } from './tokens.ts';

export interface CredentialRequest {
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  /** The peer's address, from the socket. */
  readonly address: string;
  /**
   * A socket may carry its secrets as subprotocols, and a cookie is worth nothing there without an
   * Origin. A page shows no data by itself: the cookie alone opens it, and a link from elsewhere may.
   */
  readonly at?: 'api' | 'socket' | 'page';
}

export type Credentials = ReturnType<typeof createCredentials>;

/**
 * Finds the caller of a request: by `Authorization: Bearer`, on a socket by the subprotocol
 * `bearer.<token>`, else by the sign-in cookie together with the page's key; never
 * by anything in a URL. The `Host`, an `Origin` that is there and what the browser
 * reports of the site that asks have been checked before (`HostGate`). A refusal names
 * the same whatever was asked for.
 */
export function createCredentials(deps: {
  readonly tokens: Pick<Tokens, 'find' | 'callerOf'>;
  readonly sessions: Pick<Sessions, 'find' | 'findByCookie' | 'isLive'>;
  readonly failedAttempts: FailedAttempts;
  /** Knows the pages that are none of ours. Without it there are none. */
  readonly origins?: {
    isForeign(headers: Pick<IncomingHttpHeaders, 'origin' | 'host'>): boolean;
    /** From which the token of a device counts alone; null where that is not bound to any. */
    originOf(tokenId: string): string | null;
  };
}) {
  /** A page of another origin has the token of a device that was let in as a page of it, and no other. */
  const refuseFrom = (caller: Caller | undefined, headers: IncomingHttpHeaders) => {
    const { isForeign = () => false, originOf = () => null } = deps.origins ?? {};
    const own = caller?.kind === 'device' && caller.tokenId !== null && originOf(caller.tokenId);
    if (own) return headers.origin === own ? undefined : notFromThere();
    return isForeign(headers) ? notFromThere() : undefined;
  };

  const byToken = async (token: string, { headers, address }: CredentialRequest) => {
    const principal = token === '' ? undefined : deps.tokens.find(token);
    if (!principal) return wrongFrom(deps.failedAttempts, address);
    return refuseFrom(principal, headers) ?? principal;
  };

  /** `key` is null where the cookie alone is enough. */
  const byCookie = async (cookie: string, key: string | null) => {
    const { sessions } = deps;
    const found = key === null ? sessions.findByCookie(cookie) : sessions.find(cookie, key);
    const session = await found;
    const person = session && asPerson(deps.tokens.callerOf(session.tokenId));
    // Not counted: an expired cookie is not a guess, and browsers send it with everything.
    return person ? { ...person, sessionId: session.id } : unauthenticated();
  };

  return {
    async authenticate(request: CredentialRequest): Promise<Caller | HttpError> {
      const token = bearerOf(request);
      if (token !== undefined) return byToken(token, request);
      const foreign = refuseFrom(undefined, request.headers);
      if (foreign) return foreign;
      const { cookie } = request.headers;
      const key = request.at === 'page' ? null : keyOf(request);
      // The cookie goes to every port of this host, so that alone it does not identify the caller.
      if (cookie === undefined || key === '') return unauthenticated();
      const refusal = refuseCookieFrom(request);
      if (refusal) return refusal;
      return byCookie(cookie, key);
    },
    /**
     * Says at each later moment whether the caller's credential counts as it did: it was neither
     * revoked nor changed, and the sign-in goes on. Counts as its use, and reads nothing.
     */
    follow(caller: Caller): () => boolean {
      const { tokens, sessions } = deps;
      const { tokenId } = caller;
      const holder = tokens.callerOf(tokenId);
      const sessionId = caller.kind === 'operator' ? caller.sessionId : null;
      return () =>
        holder !== undefined &&
        tokens.callerOf(tokenId) === holder &&
        (sessionId === null || sessions.isLive(sessionId));
    },
  };
}

async function wrongFrom(attempts: FailedAttempts, address: string): Promise<HttpError> {
  const retryAfter = await attempts.count(address);
  return retryAfter === undefined ? unauthenticated() : tooManyAttempts(retryAfter);
}

/** The second secret of a sign-in; empty when none was sent. */
function keyOf({ headers, at }: CredentialRequest): string {
  const { [SESSION_HEADER]: key, 'sec-websocket-protocol': protocols } = headers;
  const sent = at === 'socket' ? readCredentialProtocol('session', protocols) : key;
  return typeof sent === 'string' ? sent : '';
}

/** Undefined when no token was sent; empty when one was meant and is not there. */
function bearerOf(request: CredentialRequest): string | undefined {
  const { authorization, 'sec-websocket-protocol': protocols } = request.headers;
  if (authorization !== undefined) return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
  return request.at === 'socket' ? readCredentialProtocol('bearer', protocols) : undefined;
}

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/**
 * A browser sends the cookie by itself, so the request must show that one of
 * our own pages made it. An `Origin` that is there is ours by now.
 */
function refuseCookieFrom({ headers, method, at }: CredentialRequest): HttpError | undefined {
  if (headers.origin !== undefined) return undefined;
  const isSafe = SAFE_METHODS.has(method);
  if (at === 'page' && isSafe && isNavigation(headers)) return undefined;
  if (at !== 'socket' && isSafe && !isForeignFetch(headers)) return undefined;
  if (at !== 'socket' && headers['sec-fetch-site'] === 'same-origin') return undefined;
  return new HttpError(
    'origin_not_allowed',
    'The sign-in cookie is accepted only from a page of this server: the request needs its Origin. Programs send "Authorization: Bearer <token>".',
  );
}

/** Opened in the address bar or by a link, and not embedded. */
const isNavigation = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';

const notFromThere = (): HttpError =>
  new HttpError(
    'origin_not_allowed',
    'From a page of this origin the token alone counts that a person approved for it.',
  );

const unauthenticated = (): HttpError =>
  new HttpError(
    'unauthenticated',
    'This needs a valid credential: send "Authorization: Bearer <token>", or sign in at /sign-in.',
  );

export const tooManyAttempts = (retryAfter: number): HttpError =>
  new HttpError(
    'rate_limited',
    `Too many wrong credentials from this address. Try again in ${retryAfter} s.`,
    { retryAfter },
  );

/** People alone sign in, programs do not. */
export const asPerson = (caller: Caller | undefined): Operator | undefined =>
  caller?.kind === 'operator' ? caller : undefined;

export interface Followed {
  readonly sessions: Pick<Sessions, 'onEnd' | 'hold'>;
  readonly tokens: Pick<Tokens, 'isLive' | 'onRevoked'>;
}

/**
 * Calls `onEnd` when the caller's sign-in ends, or its token is revoked; until the returned
 * function is called, which counts as use of a sign-in.
 */
export function followCaller(followed: Followed, caller: Caller, onEnd: () => void): () => void {
  const { sessions, tokens } = followed;
  const { tokenId } = caller;
  const sessionId = caller.kind === 'operator' ? caller.sessionId : null;
  const stops: (() => void)[] = [];
  if (sessionId !== null) {
    const stopListening = sessions.onEnd((ended) => {
      if (ended === sessionId) onEnd();
    });
    stops.push(stopListening, sessions.hold(sessionId));
  }
  // The token of the first run is not revoked here.
  if (tokenId !== null) {
    const stopListening = tokens.onRevoked((revoked) => {
      if (revoked === tokenId) onEnd();
    });
    stops.push(stopListening);
    // It may have been revoked between the request and this.
    if (!tokens.isLive(tokenId)) queueMicrotask(() => stops.length > 0 && onEnd());
  }
  return () => {
    for (const stop of stops.splice(0)) stop();
  };
}
