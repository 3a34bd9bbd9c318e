/**
 * A host, as `URL` spells it, leads to this very machine: `localhost`, `127.0.0.0/8`, also as IPv6, and `[::1]`.
 * Other names may lead anywhere.
 */
export const isLoopback = (hostname: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/.test(
    hostname,
  );

/** A host as it stands in a URL and in a `Host` header: IPv6 in brackets. */
export const toUrlHost = (host: string): string =>
  host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
