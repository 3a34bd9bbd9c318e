import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { TOOL_VIA } from '#lib/protocol/sent-by-tool';
import { createHostGate, type HostGateOptions } from './host-gate.ts';

const NO_HOSTS: readonly string[] = [];
const PLAIN = { socket: new Socket() };

const gate = (more: Partial<HostGateOptions> = {}) =>
  createHostGate({
    peerOf: () => ({ address: '192.0.2.1', isSecure: false }),
    machineHosts: () => NO_HOSTS,
    publicUrl: undefined,
    port: () => 3000,
    host: '127.0.0.1',
    allowedHosts: [],
    allowedOrigins: [],
    ...more,
  });

describe('Host', () => {
  test.each([
    '127.0.0.1:3000',
    'localhost:3000',
    'LocalHost:3000',
    '[::1]:3000',
    // Ports that another program forwards, and a name that a proxy passes on without its port.
    'localhost:8080',
    '127.0.0.1',
    '[::1]:1',
  ])('[AU11] %s is ours', (host) => expect(gate().refuseHost(host, false)).toBeUndefined());

  test.each([
    undefined,
    '',
    'localhost:',
    'localhost:123456',
    'rebind.example:3000',
    'localhost.evil.example:3000',
    'evil-localhost:3000',
    '127.0.0.1:3000@evil.example',
    '127.0.0.1:3000, evil.example',
    '127.1:3000',
    '0.0.0.0:3000',
  ])('[AU11] T06: %o is not', (host) =>
    expect(gate({ host: '0.0.0.0' }).refuseHost(host, false)?.code).toBe('host_not_allowed'),
  );

  test('[AU11] the configured host and the allowed ones are ours', () => {
    const own = gate({
      host: '192.168.0.5',
      allowedHosts: ['board.example', 'other.example:8443'],
    });
    for (const host of [
      '192.168.0.5:3000',
      'board.example',
      'board.example:3000',
      'board.example:9443',
      'other.example:8443',
    ]) {
      expect(own.refuseHost(host, false), host).toBeUndefined();
    }
    expect(own.refuseHost('other.example:3000', false)).toBeDefined();
    expect(gate({ host: 'fd00::5' }).refuseHost('[fd00::5]:3000', false)).toBeUndefined();
  });

  test('[AU11] the refusal says how a forwarded port or a proxy is named', () => {
    expect(gate().refuseHost('board.example:8443', false)?.message).toMatch(
      /docker -p.*ssh -L.*CALLBOARD_PUBLIC_URL/,
    );
  });
});

describe('Origin', () => {
  test.each(['http://127.0.0.1:3000', 'http://localhost:3000', 'http://[::1]:3000'])(
    '[AU12] %s is ours',
    (origin) => expect(gate().refuseOrigin(origin, false)).toBeUndefined(),
  );

  test.each([
    'null',
    '',
    'https://evil.example',
    'http://localhost.evil.example',
    'http://localhost:3000.evil.example',
    'http://127.0.0.1:1',
    'http://127.evil.example:3000',
    'https://localhost:3000',
    'http://localhost:3000/',
    'http://localhost:3000@evil.example',
    'http://evil.example#localhost:3000',
    'http://0x7f.0.0.1:3000',
    'http://2130706433:3000',
    'http://LOCALHOST:3000',
    'http://localhost:3000, http://localhost:3000',
    'file://',
    'chrome-extension://abcdefgh',
  ])('[AU12] T02 T03: %o is refused', (origin) =>
    expect(gate().refuseOrigin(origin, false)?.code).toBe('origin_not_allowed'),
  );

  test('[AU12] allowed origins are let in, by their own spelling alone', () => {
    const open = gate({ allowedOrigins: ['https://board.example'] });
    expect(open.refuseOrigin('https://board.example', false)).toBeUndefined();
    for (const other of [
      'http://board.example',
      'https://board.example:444',
      'https://a.board.example',
    ]) {
      expect(open.refuseOrigin(other, false), other).toBeDefined();
    }
  });

  test('[AU12] at a forwarded port the page of that very port is ours, and no other', () => {
    const from = (origin: string, host: string) => {
      const headers = { host, origin };
      expect(gate().isForeignPage(headers)).toBe(gate().refuse(request(headers)) !== undefined);
      return gate().refuse(request(headers))?.code;
    };
    expect(from('http://localhost:8080', 'localhost:8080')).toBeUndefined();
    expect(from('http://localhost', 'localhost')).toBeUndefined();
    // Another program of this machine has that port.
    expect(from('http://localhost:8080', 'localhost:3000')).toBe('origin_not_allowed');
    expect(from('http://localhost:8080', '127.0.0.1:8080')).toBe('origin_not_allowed');
  });

  test('[AU12] no Origin at all is checked where the credential is read', () => {
    expect(gate().refuse(request({ host: 'localhost:3000' }))).toBeUndefined();
  });

  test('[AU11] the host is checked first', () => {
    const headers = { host: 'evil.example', origin: 'https://evil.example' };
    expect(gate().refuse(request(headers))?.code).toBe('host_not_allowed');
  });
});

describe('by https, on a network, behind a proxy', () => {
  test('[AU60] by https our origins are those of https alone, by http those of http', () => {
    expect(gate().refuseOrigin('https://localhost:3000', true)).toBeUndefined();
    expect(gate().refuseOrigin('http://localhost:3000', true)).toBeDefined();
    expect(gate().refuseOrigin('https://localhost:3000', false)).toBeDefined();
    const secure = gate({ peerOf: () => ({ address: '192.0.2.1', isSecure: true }) });
    const headers = { host: 'localhost:3000', origin: 'https://localhost:3000' };
    expect(secure.refuse(request(headers))).toBeUndefined();
  });

  test('[AU61] names and addresses of the machine are ours while it has them', () => {
    let hosts: readonly string[] = ['192.168.1.5', 'fd00::5', 'desk.local'];
    const open = gate({ host: '::', machineHosts: () => hosts });
    for (const host of ['192.168.1.5:3000', '[fd00::5]:3000', 'DESK.local:3000']) {
      expect(open.refuseHost(host, true), host).toBeUndefined();
    }
    expect(open.refuseOrigin('https://192.168.1.5:3000', true)).toBeUndefined();
    expect(open.refuseHost('192.168.1.6:3000', true)).toBeDefined();
    expect(open.refuseHost('[::]:3000', true)).toBeDefined();
    hosts = ['192.168.1.6'];
    expect(open.refuseHost('192.168.1.6:3000', true)).toBeUndefined();
    expect(open.refuseHost('192.168.1.5:3000', true)).toBeDefined();
    expect(gate().refuseHost('192.168.1.6:3000', true)).toBeDefined();
  });

  test('[AU62] the name of the public URL is ours at any port, and the pages of its origin may ask', () => {
    const proxied = gate({ publicUrl: 'https://board.example:8443' });
    for (const host of ['board.example:8443', 'board.example', 'Board.example:3000']) {
      expect(proxied.refuseHost(host, true), host).toBeUndefined();
      const headers = { host, origin: 'https://board.example:8443' };
      expect(proxied.refuse(request(headers)), host).toBeUndefined();
    }
    expect(proxied.refuseOrigin('http://board.example:8443', true)).toBeDefined();
    expect(proxied.refuseOrigin('https://board.example:444', true)).toBeDefined();
  });
});

describe('several Hosts', () => {
  const own = ['Host', 'localhost:3000'];
  test.each([
    [...own, 'Host', 'evil.example'],
    ['Host', 'evil.example', ...own],
    [...own, 'hOsT', 'localhost:3000'],
    [...own, 'Accept', '*/*', 'HOST', ''],
  ])('[AU26] %j is refused, although the first is ours', (...rawHeaders) => {
    const refusal = gate().refuse({ ...PLAIN, headers: { host: 'localhost:3000' }, rawHeaders });
    expect(refusal?.code).toBe('bad_request');
  });

  test('[AU26] a value that reads Host is none', () => {
    const rawHeaders = [...own, 'X-Note', 'Host', 'Accept', 'host'];
    expect(
      gate().refuse({ ...PLAIN, headers: { host: 'localhost:3000' }, rawHeaders }),
    ).toBeUndefined();
  });
});

describe('what a tool sent', () => {
  const host = 'localhost:3000';
  test.each([TOOL_VIA, `1.1 proxy, ${TOOL_VIA} , 1.0 other`])('[AU38] Via: %s is refused', (via) =>
    expect(gate().refuse(request({ host, via }))?.code).toBe('origin_not_allowed'),
  );

  test('[AU38] other proxies may be on the way', () => {
    expect(gate().refuse(request({ host, via: '1.1 proxy' }))).toBeUndefined();
  });
});

/** As Node reads it. */
const request = (headers: Record<string, string>) => ({
  ...PLAIN,
  headers,
  rawHeaders: Object.entries(headers).flat(),
});
