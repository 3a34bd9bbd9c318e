/** The sockets of clients and watchers speak it. In a file without schemas, so that pages need none for it. */
export const PROTOCOL = 'callboard.v1';
/** ClawSeed apps speak this on `/ws/chat`. */
export const CLAWSEED_PROTOCOL = 'clawseed.v1';

/** The second secret of a sign-in, which only pages of our origin have; beside the cookie. */
export const SESSION_HEADER = 'x-callboard-session';

const PREFIXES = { bearer: 'bearer.', session: 'session.' } as const;

type Kind = keyof typeof PREFIXES;

/**
 * A secret as a WebSocket subprotocol, the only place where a page can put one
 * (contract, section 4). The name of a subprotocol cannot have `/` and `=`, so
 * these are percent-encoded in it; what base64url gives stays as it is.
 */
export const toCredentialProtocol = (kind: Kind, secret: string): string =>
  PREFIXES[kind] + encodeURIComponent(secret);

/** Undefined when the header offers none; empty when the one it offers makes no sense. */
export function readCredentialProtocol(kind: Kind, header: string | undefined): string | undefined {
  const offered = header?.split(',').map((one) => one.trim());
  const found = offered?.find((one) => one.startsWith(PREFIXES[kind]));
  if (found === undefined) return undefined;
  try {
    return decodeURIComponent(found.slice(PREFIXES[kind].length));
  } catch {
    return '';
  }
}
