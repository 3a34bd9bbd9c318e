import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import { readCredentialProtocol } from '#lib/protocol/subprotocols';

/** In the words of ClawSeed's own server. */
const UNAUTHORIZED =
  'Unauthorized — provide Authorization header, Sec-WebSocket-Protocol bearer, or ?token= query param';
const WITHOUT_URL =
  'Unauthorized — provide Authorization header, or Sec-WebSocket-Protocol bearer; ?token= is refused, since addresses are logged (clawseed.token_in_url in the configuration allows it)';

/**
 * A ClawSeed app's credential: the header, else the subprotocol, else `token` in
 * the address, where the configuration allows that (rule HT221). The first that is there counts.
 */
export function chatCredential(
  headers: IncomingHttpHeaders,
  search: string,
  mayBeInUrl: boolean,
): { readonly headers: IncomingHttpHeaders; refusal(error: HttpError): HttpError } {
  const { authorization, 'sec-websocket-protocol': protocols } = headers;
  const isSent =
    authorization !== undefined || readCredentialProtocol('bearer', protocols) !== undefined;
  const token = isSent || !mayBeInUrl ? null : new URLSearchParams(search).get('token');
  return {
    headers: token === null ? headers : { ...headers, authorization: `Bearer ${token}` },
    refusal: (error) =>
      error.code === 'unauthenticated'
        ? new HttpError('unauthenticated', mayBeInUrl ? UNAUTHORIZED : WITHOUT_URL)
        : error,
  };
}
