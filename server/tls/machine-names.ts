import { X509Certificate } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import { toUrlHost } from '#lib/net/hosts';
import type { Clock } from '../base/clock.ts';

/** The names and addresses under which this machine can be reached now. */
export interface MachineNames {
  /** `localhost`, its own name, and that of mDNS. */
  readonly names: readonly string[];
  /** The addresses of loopback come first, then those of the network. */
  readonly addresses: readonly string[];
}

/** The system reports these; a parameter, so that tests can change it. */
export interface MachineSource {
  hostname(): string;
  networkInterfaces: () => ReturnType<typeof networkInterfaces>;
}

const LOOPBACK = ['127.0.0.1', '::1'];
/** Labels of letters, digits and hyphens: what a certificate and a `Host` can hold. */
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
/** It has to be named with the interface, which no certificate can. */
const LINK_LOCAL = /^fe[89ab][0-9a-f]:/i;
const MOST_ADDRESSES = 64;

export function readMachineNames(
  source: MachineSource = { hostname, networkInterfaces },
): MachineNames {
  const own = source.hostname().toLowerCase();
  const dotless = NAME.test(own) && own !== 'localhost' && !own.includes('.');
  const named = NAME.test(own) && own !== 'localhost' ? [own] : [];
  const names = ['localhost', ...named, ...(dotless ? [`${own}.local`] : [])];
  const outside = Object.values(source.networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal, address }) => !internal && !LINK_LOCAL.test(address))
    .map(({ address }) => address)
    .sort(likelyFirst)
    .slice(0, MOST_ADDRESSES);
  return { names, addresses: [...LOOPBACK, ...new Set(outside)] };
}

/** Networks of homes and offices, where a phone is; then other IPv4, then IPv6. */
const LIKELY = [/^192\.168\./, /^10\./, /^172\.(?:1[6-9]|2\d|3[01])\./, /^(?!169\.254\.)\d+\./];

const rank = (address: string): number => {
  const at = LIKELY.findIndex((pattern) => pattern.test(address));
  return at < 0 ? LIKELY.length : at;
};

const likelyFirst = (a: string, b: string): number =>
  rank(a) - rank(b) || (a < b ? -1 : Number(a !== b));

/** How long what the system reported counts: an address may come with another network. */
const KEPT_MS = 5_000;

/** The names and addresses under which others reach this machine. */
export function createMachineHosts(
  clock: Pick<Clock, 'now'>,
  machine: () => MachineNames = readMachineNames,
) {
  let hosts: readonly string[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    /** Addresses first, then names, without those of loopback. The same list until one changes. */
    list(): readonly string[] {
      if (clock.now() - readAt < KEPT_MS) return hosts;
      readAt = clock.now();
      const { names, addresses } = machine();
      const found = [...addresses.slice(2), ...names.slice(1).reverse()];
      if (found.join(' ') !== hosts.join(' ')) hosts = found;
      return hosts;
    },
  };
}

/** The names and addresses that a certificate is for, without those of many hosts (`*.example`), and what no URL can hold. */
export function hostsOfCertificate(pem: string): string[] {
  const { subjectAltName = '' } = new X509Certificate(pem);
  return subjectAltName.split(', ').flatMap((entry) => {
    const [, host] = /^(?:DNS|IP Address):([^*"]+)$/.exec(entry) ?? [];
    const canBeReached = host !== undefined && URL.canParse(`https://${toUrlHost(host)}`);
    return canBeReached ? [host.toLowerCase()] : [];
  });
}
