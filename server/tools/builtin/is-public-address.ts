import { BlockList, isIPv4 } from 'node:net';

/** Of IPv4 what is not the public internet (IANA's special-purpose registry), and Azure's host agent. */
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
/** Of IPv6 one block alone is public; these in it are not, or hold an IPv4 address. */
const PUBLIC_V6 = '2000::/3';
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const notPublicV4 = listOf(NOT_PUBLIC_V4, 'ipv4');
const publicV6 = listOf([PUBLIC_V6], 'ipv6');
const notPublicV6 = listOf(NOT_PUBLIC_V6, 'ipv6');

/**
 * Whether an IP address is one of the public internet. Loopback, private, link-local
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
