import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createPeerOf } from './peer.ts';

const proxied = { trustedProxies: ['10.0.0.1', 'fd00::/8'], publicUrl: undefined };

/** A request of a peer at this address, with these headers. */
function request(remoteAddress: string, headers: Record<string, string> = {}, encrypted = false) {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
  return { headers, socket: Object.assign(socket, encrypted ? { encrypted } : {}) };
}

test.each(['127.0.0.1', '192.168.1.9', '::1'])(
  '[AU65] T27: what %s writes about another address, or https, counts for nothing',
  (address) => {
    const peerOf = createPeerOf(proxied);
    const headers = {
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      forwarded: 'for=127.0.0.1;proto=https',
      'x-forwarded-proto': 'https',
    };
    expect(peerOf(request(address, headers))).toEqual({ address, isSecure: false });
  },
);

test('[AU66] T27: from a trusted proxy the last address that is no trusted proxy is the client’s', () => {
  const peerOf = createPeerOf(proxied);
  const by = (hops: string, proxy = '10.0.0.1') =>
    peerOf(request(proxy, { 'x-forwarded-for': hops })).address;
  expect(by('203.0.113.7')).toBe('203.0.113.7');
  expect(by('127.0.0.1, 203.0.113.7, fd00::2')).toBe('203.0.113.7');
  expect(by('::ffff:203.0.113.7', 'fd00::9')).toBe('203.0.113.7');
  expect(by('203.0.113.7', '::ffff:10.0.0.1')).toBe('203.0.113.7');
  expect(by('203.0.113.7:51234')).toBe('203.0.113.7');
  expect(by('[2001:db8::7]:443, 10.0.0.1:80')).toBe('2001:db8::7');
  expect(by('[2001:db8::7]')).toBe('2001:db8::7');
  expect(by('203.0.113.7, nonsense')).toBe('10.0.0.1');
  expect(by('')).toBe('10.0.0.1');
  const realIp = { 'x-real-ip': '203.0.113.7', forwarded: 'for=203.0.113.7' };
  expect(peerOf(request('10.0.0.1', realIp)).address).toBe('10.0.0.1');
});

test('[AU67] https is an encrypted socket, the word of a trusted proxy, or the public host', () => {
  const peerOf = createPeerOf({ ...proxied, publicUrl: 'https://board.example' });
  const isSecure = (...given: Parameters<typeof request>) => peerOf(request(...given)).isSecure;
  expect(isSecure('192.168.1.9')).toBe(false);
  expect(isSecure('192.168.1.9', {}, true)).toBe(true);
  expect(isSecure('10.0.0.1', { 'x-forwarded-proto': 'https' })).toBe(true);
  expect(isSecure('10.0.0.1', { 'x-forwarded-proto': 'https, http' })).toBe(true);
  expect(isSecure('10.0.0.1', { 'x-forwarded-proto': 'wss' })).toBe(true);
  expect(isSecure('10.0.0.1', { 'x-forwarded-proto': 'http' })).toBe(false);
  expect(isSecure('127.0.0.1', { host: 'board.example' })).toBe(true);
});

test('[AU66] an address has one spelling, and a peer that is gone has none', () => {
  const peerOf = createPeerOf({ trustedProxies: [], publicUrl: undefined });
  expect(peerOf(request('::ffff:192.168.1.9')).address).toBe('192.168.1.9');
  expect(peerOf({ headers: {}, socket: new Socket() }).address).toBe('unknown');
});
