import { X509Certificate } from 'node:crypto';
import { toUrlHost } from '#lib/net/hosts';
import type { Clock } from '../base/clock.ts';
import { type MachineNames, readMachineNames } from './machine-names.ts';

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
