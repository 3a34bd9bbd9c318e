import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import type { FailedAttempts } from './failed-attempts.ts';
import type { Principal } from './principal.ts';
import { readCookie, type Sessions } from './sessions.ts';

export interface CredentialRequest {
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  /** Of the peer, as the socket tells it. */
  readonly address: string;
  /** A socket may carry its token as a subprotocol, and a cookie is worth nothing there without an Origin. */
  readonly socket?: boolean;
  /** A page opened in the address bar or by a link: it shows no data, so a foreign link may open it. */
  readonly navigation?: boolean;
}

/**
 * Finds out who asks: by `Authorization: Bearer`, on a socket by the subprotocol
 * `bearer.<token>`, else by the sign-in cookie; never by anything in a URL. The
 * `Host` and an `Origin` that is there have been judged before (`HostGate`).
 * A refusal tells the same whatever was asked for.
 */
export interface Credentials {
  authenticate(request: CredentialRequest): Promise<Principal | HttpError>;
}

export function createCredentials(deps: {
  /** Who a token belongs to; undefined when nobody's. */
  readonly findPrincipal: (token: string) => Principal | undefined | Promise<Principal | undefined>;
  readonly sessions: Pick<Sessions, 'find'>;
  readonly failedAttempts: FailedAttempts;
}): Credentials {
  const wrong = async (address: string): Promise<HttpError> => {
    const retryAfter = await deps.failedAttempts.count(address);
    return retryAfter === undefined ? unauthenticated() : tooManyAttempts(retryAfter);
  };

  return {
    async authenticate(request) {
      const token = bearerOf(request);
      if (token !== undefined) {
        const principal = token === '' ? undefined : await deps.findPrincipal(token);
        return principal ?? wrong(request.address);
      }
      if (readCookie(request.headers.cookie) === undefined) return unauthenticated();
      const refusal = refuseCookieFrom(request);
      if (refusal) return refusal;
      const sessionId = await deps.sessions.find(request.headers.cookie);
      // Not counted: a cookie that has run out is no guess, and browsers send it with everything.
      return sessionId === undefined ? unauthenticated() : { kind: 'operator', sessionId };
    },
  };
}

/** Undefined when no token was sent; empty when one was meant and is not there. */
function bearerOf(request: CredentialRequest): string | undefined {
  const { authorization, 'sec-websocket-protocol': protocols } = request.headers;
  if (authorization !== undefined) return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
  if (!request.socket) return undefined;
  const offered = protocols?.split(',').map((one) => one.trim());
  return offered?.find((one) => one.startsWith('bearer.'))?.slice('bearer.'.length);
}

const SAFE_METHODS = new Set(['GET', 'HEAD']);
/** `none`: typed in, or opened from outside the browser. */
const OWN_FETCH_SITES = new Set(['same-origin', 'none']);

/**
 * A browser sends the cookie by itself, so the request must show that one of
 * our own pages made it. An `Origin` that is there is ours by now.
 */
function refuseCookieFrom(request: CredentialRequest): HttpError | undefined {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined) return undefined;
  if (request.navigation && SAFE_METHODS.has(request.method)) return undefined;
  const ours =
    !request.socket &&
    (SAFE_METHODS.has(request.method)
      ? site === undefined || OWN_FETCH_SITES.has(String(site))
      : site === 'same-origin');
  if (ours) return undefined;
  return new HttpError(
    'origin_not_allowed',
    'The sign-in cookie counts only from a page of this server: the request needs its Origin. Programs send "Authorization: Bearer <token>".',
  );
}

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
