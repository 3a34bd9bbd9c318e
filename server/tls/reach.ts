import type { X509Certificate } from 'node:crypto';
import { isLoopback, toUrlHost } from '#lib/net/hosts';
import {
  type Lack,
  NEEDS_SECURE_CONTEXT,
  type Reach,
  type ReachAddress,
} from '#lib/protocol/reach';

export interface ReachOptions {
  readonly tls: 'own' | 'given' | 'none';
  readonly isOpen: boolean;
  readonly isPlaintext: boolean;
  readonly publicUrl: string | undefined;
  /** The address that is listened on. */
  readonly host: string;
  /** Known once the server listens. */
  readonly port: () => number;
  readonly machineHosts: () => readonly string[];
  /** A given certificate is for these names. */
  readonly certificateHosts: () => readonly string[];
  readonly ca: () => X509Certificate | undefined;
}

/** Tells how a phone comes to this server. */
export function createReach(options: ReachOptions) {
  const all = (): ReachAddress[] => {
    const found = [...ofProxy(options), ...ofNetwork(options), ...ofThisMachine(options)];
    const origins = new Set<string>();
    return found.filter(({ origin }) => !origins.has(origin) && origins.add(origin));
  };
  return {
    /** Origins, most likely first; behind those for phones that of this machine itself. */
    addresses: () => all().map(({ origin }) => origin),
    describe(): Reach {
      const ca = options.ca();
      const isProxied = options.publicUrl?.startsWith('https:') && options.tls === 'none';
      return {
        tls: isProxied ? 'proxy' : options.tls,
        open: options.isOpen || options.publicUrl !== undefined,
        plaintext: options.isPlaintext,
        ca: ca === undefined ? null : describeCa(ca),
        addresses: all(),
      };
    },
  };
}

export const describeCa = (ca: X509Certificate) => ({
  fingerprint: ca.fingerprint256,
  name: /CN=([^\n]+)/.exec(ca.subject)?.[1] ?? '',
  expires_at: Math.floor(Date.parse(ca.validTo) / 1_000),
  page: '/trust',
});

function ofProxy({ publicUrl }: ReachOptions): ReachAddress[] {
  if (publicUrl === undefined) return [];
  const scheme = publicUrl.startsWith('https:') ? 'https' : 'http';
  const lacks = scheme === 'https' ? [] : [...NEEDS_SECURE_CONTEXT];
  return [{ origin: publicUrl, scheme, from: 'proxy', needs_trust: false, lacks }];
}

/** Plain HTTP counts only where everyone may use it; else it is there for the proxy alone. */
function ofNetwork(options: ReachOptions): ReachAddress[] {
  const { tls, isOpen, isPlaintext, host } = options;
  if (!isOpen || (tls === 'none' && !isPlaintext)) return [];
  const isAny = ['::', '0.0.0.0'].includes(host);
  const machine = isAny ? options.machineHosts() : [host];
  const hosts = tls === 'given' ? withoutLoopback(options.certificateHosts()) : machine;
  const scheme = tls === 'none' ? 'http' : 'https';
  const lacks: Record<typeof tls, readonly Lack[]> = {
    own: ['socket_on_ios'],
    given: [],
    none: NEEDS_SECURE_CONTEXT,
  };
  return hosts.map((name) => ({
    origin: originOf(scheme, name, options.port()),
    scheme,
    from: 'network',
    needs_trust: tls === 'own',
    lacks: [...lacks[tls]],
  }));
}

const withoutLoopback = (hosts: readonly string[]): string[] =>
  hosts.filter((host) => !isLoopback(new URL(`https://${toUrlHost(host)}`).hostname));

/** People at this machine need no certificate: browsers take its own address as secure. */
function ofThisMachine({ host, port, isOpen }: ReachOptions): ReachAddress[] {
  const isAny = ['::', '0.0.0.0'].includes(host);
  if (isOpen && !isAny) return [];
  const origin = originOf('http', isAny ? '127.0.0.1' : host, port());
  return [{ origin, scheme: 'http', from: 'this_machine', needs_trust: false, lacks: [] }];
}

const originOf = (scheme: string, host: string, port: number): string =>
  new URL(`${scheme}://${toUrlHost(host)}:${port}`).origin;
