import { expect, test } from 'vitest';
import { reachSchema } from '#lib/protocol/reach';
import { createReach, type ReachOptions } from './reach.ts';

const reach = (more: Partial<ReachOptions> = {}) =>
  createReach({
    ...{ tls: 'none', isOpen: false, isPlaintext: false, publicUrl: undefined },
    ...{ host: '127.0.0.1', port: () => 3000, ca: () => undefined },
    machineHosts: () => ['192.168.1.5', 'fd00::5', 'desk.local'],
    certificateHosts: () => ['board.example', 'localhost', '0:0:0:0:0:0:0:1'],
    ...more,
  });
const open = { isOpen: true, host: '::' } as const;

test('[LN49] without a network the only address is that of this machine, where nothing is lacking', () => {
  expect(reach().addresses()).toEqual(['http://127.0.0.1:3000']);
  const described = reach().describe();
  expect(reachSchema.parse(described)).toEqual(described);
  expect(described).toMatchObject({ tls: 'none', open: false, addresses: [{ lacks: [] }] });
});

test('[LN49] with --lan the addresses of the network come first, by https, and need the CA', () => {
  const own = reach({ ...open, tls: 'own' });
  expect(own.addresses()).toEqual([
    ...['https://192.168.1.5:3000', 'https://[fd00::5]:3000', 'https://desk.local:3000'],
    'http://127.0.0.1:3000',
  ]);
  expect(own.describe().addresses[0]).toMatchObject({
    ...{ from: 'network', needs_trust: true, lacks: ['socket_on_ios'] },
  });
});

test('[LN49] behind a proxy its origin is first, and the plain port is no address for phones', () => {
  const proxied = reach({ ...open, publicUrl: 'https://board.example' });
  expect(proxied.addresses()).toEqual(['https://board.example', 'http://127.0.0.1:3000']);
  expect(proxied.describe()).toMatchObject({ tls: 'proxy', open: true });
});

test('[LN49] T32: without TLS each address names what browsers withhold there', () => {
  const described = reach({ ...open, isPlaintext: true }).describe();
  expect(described.plaintext).toBe(true);
  expect(described.addresses[0]?.origin).toBe('http://192.168.1.5:3000');
  expect(described.addresses[0]?.lacks).toContain('camera');
});
