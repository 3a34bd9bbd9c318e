import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { toUrlHost } from '#lib/net/hosts';
import { abortable } from '#lib/util/abortable';
import { refusal } from '../define-tool.ts';

/** These blocks of IPv4 are not the public internet (IANA's special-purpose registry); one is Azure's host agent. */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** One block of IPv6 alone is public; these in it are not, or hold an IPv4 address. */
const PUBLIC_V6 = '2000::/3';
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const notPublicV4 = listOf(NOT_PUBLIC_V4, 'ipv4');
const publicV6 = listOf([PUBLIC_V6], 'ipv6');
const notPublicV6 = listOf(NOT_PUBLIC_V6, 'ipv6');

/**
 * Says if an IP address is one of the public internet. Loopback, private, link-local
 * (with the metadata services of clouds), shared, multicast, reserved, and IPv4 in
 * IPv6 are not.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublicV4.check(address, 'ipv4');
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (address.includes('%')) return false;
  return publicV6.check(address, 'ipv6') && !notPublicV6.check(address, 'ipv6');
}

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits = ''] = network.split('/');
    list.addSubnet(base, Number(bits), family);
  }
  return list;
}

/** Which hosts `http.request` may reach. */
export interface HttpHosts {
  /** `api.example`, `*.example.org` or `*`, at 80 and 443, or with `:port`; public addresses alone. */
  readonly hosts: readonly string[];
  /** `host:port`, whatever its address. */
  readonly private_hosts: readonly string[];
}

export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export interface HttpTarget {
  readonly url: URL;
  /** Each was checked, and no other is connected to. */
  readonly addresses: readonly LookupAddress[];
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

export const resolveHost: Resolve = (host) => lookup(host, { all: true });

/**
 * The addresses of a URL that may be asked, resolved once. Throws `ToolError`, before
 * anything is connected to, for what may not.
 */
export async function findTarget(
  url: URL,
  hosts: HttpHosts,
  { resolve, signal }: { resolve: Resolve; signal: AbortSignal },
): Promise<HttpTarget> {
  const host = hostOf(url);
  const isPrivateAllowed = refuseUnlisted(url, host, hosts);
  const family = isIP(host);
  const addresses = family ? [{ address: host, family }] : await addressesOf(host, resolve, signal);
  if (addresses.length === 0) throw refusal(`The host ${host} has no address.`);
  // One address that is not public makes the name one of a private network, or of an attack.
  if (!isPrivateAllowed && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw refusal(
      `The host ${host} has an address that is not one of the public internet; such hosts are not asked.`,
    );
  }
  return { url, addresses };
}

/** True of a host that may have any address. Throws when the lists do not have it. */
function refuseUnlisted(url: URL, host: string, { hosts, private_hosts }: HttpHosts): boolean {
  const standard = DEFAULT_PORTS[url.protocol];
  if (standard === undefined) throw refusal('Only http and https addresses can be asked.');
  if (url.username || url.password) throw refusal('The address must hold no name and password.');
  const port = url.port || standard;
  const isStandardPort = Object.values(DEFAULT_PORTS).includes(port);
  if (private_hosts.some((entry) => entry.toLowerCase() === `${toUrlHost(host)}:${port}`)) {
    return true;
  }
  const isListed = hosts.some((entry) => {
    const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (only === undefined ? !isStandardPort : only !== port) return false;
    return name === '*' || (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name);
  });
  if (isListed) return false;
  throw refusal(
    `${toUrlHost(host)}:${port} is not in the list of hosts that may be asked; those are ${list(hosts, private_hosts)}.`,
  );
}

/** `a.example.` is `a.example`; an IPv6 address stands without its brackets. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|\.$/g, '');

const list = (...lists: (readonly string[])[]): string => lists.flat().slice(0, 30).join(', ');

async function addressesOf(
  host: string,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<readonly LookupAddress[]> {
  try {
    return await abortable(signal, resolve(host));
  } catch (error) {
    if (signal.aborted) throw error;
    throw refusal(`The host ${host} was not found (${String(error)}).`);
  }
}
