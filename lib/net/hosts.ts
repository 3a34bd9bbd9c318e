/**
 * A host, as `URL` spells it, leads to this very machine: `localhost`, `127.0.0.0/8`, `[::1]`.
 * Other names may lead anywhere.
 */
export const isLoopback = (hostname: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);

/** A host as it stands in a URL and in a `Host` header: IPv6 in brackets. */
export const toUrlHost = (host: string): string =>
  host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
