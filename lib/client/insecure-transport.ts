import { isLoopback } from '../net/hosts.ts';

/** A connection that others could read, which is not made. */
export class InsecureTransportError extends Error {
  override readonly name = 'InsecureTransportError';
  readonly code = 'insecure_transport';
}

/**
 * Throws where a token and results would go over a network in the clear: from a
 * program, or a page by https, to a server without TLS that is not this machine.
 * A page that came by plain HTTP is in the clear already.
 */
export function refuseInsecureTransport(
  address: string,
  from: 'program' | 'https page',
  allow: boolean | undefined,
): void {
  const { protocol, hostname, host } = new URL(address);
  if (allow === true || !/^(?:ws|http):$/.test(protocol) || isLoopback(hostname)) return;
  throw new InsecureTransportError(
    `insecure_transport: ${host} has no TLS: its network could read what this ${from} sends. Use https, or set allowInsecureTransport: true`,
  );
}
