import type { NetworkInterfaceInfo } from 'node:os';
import { expect, test } from 'vitest';
import { createMachineHosts, hostsOfCertificate, readMachineNames } from './machine-names.ts';
import { makeCa, makeServerPair } from './make-certificates.ts';

const address = (text: string, internal = false): NetworkInterfaceInfo => ({
  ...{ address: text, internal, netmask: '', mac: '', cidr: null },
  ...(text.includes(':') ? { family: 'IPv6', scopeid: 0 } : { family: 'IPv4' }),
});

const machine = (hostname: string, addresses: NetworkInterfaceInfo[]) =>
  readMachineNames({ hostname: () => hostname, networkInterfaces: () => ({ en0: addresses }) });

test('[LN46] a machine has its name, that of mDNS, and its addresses, where a phone is likely first', () => {
  const outside = ['2001:db8::5', '169.254.1.1', '100.64.0.1', '10.0.0.5', '192.168.1.5'];
  const all = [address('127.0.0.1', true), address('fe80::1'), ...outside.map((a) => address(a))];
  expect(machine('Desk', all)).toEqual({
    names: ['localhost', 'desk', 'desk.local'],
    addresses: [
      ...['127.0.0.1', '::1', '192.168.1.5', '10.0.0.5', '100.64.0.1'],
      ...['169.254.1.1', '2001:db8::5'],
    ],
  });
});

test('[LN47] the list is read again after five seconds, and is the same until it changes', () => {
  let now = 0;
  let addresses = ['127.0.0.1', '::1', '192.168.1.5'];
  const hosts = createMachineHosts({ now: () => now }, () => ({
    ...{ names: ['localhost', 'desk', 'desk.local'], addresses },
  }));
  const first = hosts.list();
  expect(first).toEqual(['192.168.1.5', 'desk.local', 'desk']);
  now = 6_000;
  expect(hosts.list()).toBe(first);
  addresses = ['127.0.0.1', '::1', '10.0.0.9'];
  expect(hosts.list()).toBe(first);
  now = 12_000;
  expect(hosts.list()[0]).toBe('10.0.0.9');
});

test('[LN48] the hosts of a given certificate are those that it is for', async () => {
  const names = {
    names: ['board.example', '*.board.example', 'a b'],
    addresses: ['192.168.1.5', '::1'],
  };
  const { cert } = await makeServerPair(await makeCa('x', Date.now()), names, Date.now());
  expect(hostsOfCertificate(cert)).toEqual(['board.example', '192.168.1.5', '0:0:0:0:0:0:0:1']);
});
