import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { toUrlHost } from '#lib/net/hosts';
import { abortable } from '#lib/util/abortable';
import { ToolError } from '../define-tool.ts';
import { isPublicAddress } from './is-public-address.ts';

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

/** Whether the host may have any address. Throws when the lists do not have it. */
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

const refusal = (message: string): ToolError => new ToolError(message, { executed: 'no' });
