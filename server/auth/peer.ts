import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Where a request comes from. It gives no right: who asks is shown by a credential alone. */
export interface Peer {
  /** The client's IP address in one spelling, or `unknown`. */
  readonly address: string;
  /** Its way here is encrypted, as far as this server can know. */
  readonly isSecure: boolean;
}

export type PeerOf = (incoming: Pick<IncomingMessage, 'headers' | 'socket'>) => Peer;

export interface PeerOptions {
  /** Addresses and ranges of proxies that are believed. */
  readonly trustedProxies: readonly string[];
  /** The origin under which a proxy offers the server. */
  readonly publicUrl: string | undefined;
}

/**
 * Reads who is at the other end. What `X-Forwarded-For` and `X-Forwarded-Proto`
 * say counts only from a trusted proxy, and of the addresses only the last one
 * that is no trusted proxy: those before it are what the client wrote itself.
 * `X-Real-IP` and `Forwarded` never count.
 */
export function createPeerOf({ trustedProxies, publicUrl }: PeerOptions): PeerOf {
  const isTrusted = createIsAmong(trustedProxies);
  // A proxy may pass the name on without the port at which people come.
  const secure = publicUrl?.startsWith('https:') ? new URL(publicUrl) : undefined;
  return ({ headers, socket }) => {
    const peer = plainAddress(socket.remoteAddress);
    const isEncrypted = 'encrypted' in socket && socket.encrypted === true;
    // People come to the public host by https alone; to name it falsely makes a cookie that is kept closer.
    const asked = headers.host?.toLowerCase();
    const isPublic = secure !== undefined && (asked === secure.host || asked === secure.hostname);
    if (!isTrusted(peer)) return { address: peer, isSecure: isEncrypted || isPublic };
    // Each proxy of a chain adds its own scheme; some name that of sockets.
    const proto = String(headers['x-forwarded-proto'] ?? '');
    const isSecure = isEncrypted || isPublic || /\b(?:https|wss)\b/i.test(proto);
    return { address: lastUntrusted(headers['x-forwarded-for'], isTrusted) ?? peer, isSecure };
  };
}

/** Tests that an address is one of these, or in one of these ranges. */
export function createIsAmong(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}

/** An IPv4 address in its own spelling, also where a socket of IPv6 took it. */
export const plainAddress = (address: string | undefined): string =>
  address?.replace(/^::ffff:(?=\d+\.)/i, '') ?? 'unknown';

/** Whose address it is: one subscriber owns a whole IPv6 /64, so that is what limits count by. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!plain.includes(':')) return plain;
  const [head = ''] = plain.split('::');
  return [...head.split(':'), '0', '0', '0', '0'].slice(0, 4).join(':');
}

/** Some proxies write it so. */
const WITH_PORT = /^\[([\da-f:.]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/i;

function lastUntrusted(
  header: string | string[] | undefined,
  isTrusted: (address: string) => boolean,
): string | undefined {
  const hops = String(header ?? '').split(',');
  for (const hop of hops.reverse()) {
    const address = plainAddress(hop.trim().replace(WITH_PORT, '$1$2'));
    // Not an address: what stands before it is no proxy's word either.
    if (isIP(address) === 0) return undefined;
    if (!isTrusted(address)) return address;
  }
  return undefined;
}
