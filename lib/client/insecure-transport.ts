import { isLoopback } from '../net/hosts.ts';

/**
 * Says what is wrong where a token and results would go over a network in the clear: from a
 * program, or a page by https, to a server without TLS that is not this machine.
 * A page that came by plain HTTP is in the clear already.
 */
export function insecureTransport(
  address: string,
  from: 'program' | 'https page',
  allow: boolean | undefined,
): string | undefined {
  const { protocol, hostname, host } = new URL(address);
  if (allow === true || !/^(?:ws|http):$/.test(protocol) || isLoopback(hostname)) return;
  return `insecure_transport: ${host} has no TLS: its network could read what this ${from} sends. Use https, or set allowInsecureTransport: true`;
}
