import { BlockList, isIP } from 'node:net';
import { type Config, ConfigError } from './config.ts';
import type { Arguments } from './read-arguments.ts';

/** Whose certificate is used: one that this server makes, one that was given, or none. */
export type TlsChoice =
  | { readonly kind: 'own' }
  | { readonly kind: 'given'; readonly cert: string; readonly key: string }
  | { readonly kind: 'none' };

/** Where the server listens, and by what it can be reached there. */
export interface Network {
  /** The address to listen on. */
  readonly host: string;
  /** Others than this machine reach it. */
  readonly isOpen: boolean;
  readonly tls: TlsChoice;
  /** By decision of a person everyone on the network may read what is sent. */
  readonly isPlaintext: boolean;
  /** The origin under which a proxy offers the server. */
  readonly publicUrl: string | undefined;
  /** Addresses of proxies, or ranges of them. */
  readonly trustedProxies: readonly string[];
}

type Options = Pick<Config, 'host' | 'development' | 'publicUrl' | 'trustedProxies'>;

/** Decides how the server is reached. Throws `ConfigError` for what would expose it without TLS. */
export function readNetwork(config: Options, args: Omit<Arguments, 'salvage' | 'json'>): Network {
  const { publicUrl, trustedProxies } = config;
  const tls = chooseTls(args);
  const host = config.host ?? (args.lan ? '::' : '127.0.0.1');
  const isOpen = !isLoopbackHost(host);
  const network = { host, isOpen, tls, publicUrl, trustedProxies };
  if (args.lan && !isOpen) {
    throw new ConfigError(
      `CALLBOARD_HOST is ${JSON.stringify(host)}, which only this machine reaches, and --lan is given; unset CALLBOARD_HOST, or leave out --lan`,
    );
  }
  if (args.lan && args.insecurePlaintextLan) {
    throw new ConfigError(
      '--lan means TLS and --insecure-plaintext-lan means none; give one of them',
    );
  }
  if (config.development && (isOpen || tls.kind !== 'none')) {
    throw new ConfigError(
      `The development server listens on this machine alone, and not on ${JSON.stringify(host)}: it serves sources and evaluates code. Unset CALLBOARD_HOST and leave out --lan, --cert and --key; for a phone use "npm start -- --lan"`,
    );
  }
  const isPlain = isOpen && tls.kind === 'none';
  const isBehindProxy = publicUrl?.startsWith('https:') === true && trustedProxies.length > 0;
  if (isPlain && !isBehindProxy && !args.insecurePlaintextLan) {
    throw new ConfigError(
      `CALLBOARD_HOST is ${JSON.stringify(host)}, and without TLS everyone on that network could read tokens, calls and results. Start with --lan (a certificate is made), or with --cert and --key, or behind a proxy that has TLS with CALLBOARD_PUBLIC_URL and CALLBOARD_TRUSTED_PROXIES; --insecure-plaintext-lan starts it as it is`,
    );
  }
  return { ...network, isPlaintext: isPlain && args.insecurePlaintextLan };
}

function chooseTls({ lan, cert, key }: Omit<Arguments, 'salvage' | 'json'>): TlsChoice {
  if (cert !== undefined && key !== undefined) return { kind: 'given', cert, key };
  if (cert === undefined && key === undefined) return lan ? { kind: 'own' } : { kind: 'none' };
  const [given, missing] = cert === undefined ? ['--key', '--cert'] : ['--cert', '--key'];
  throw new ConfigError(
    `${given} is given without ${missing}; both are needed, as in --cert board.crt --key board.key`,
  );
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Of a socket, or of a setting. Names other than `localhost` may lead anywhere. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  const family = isIP(bare);
  if (family === 0) return bare === 'localhost';
  return loopback.check(bare, family === 6 ? 'ipv6' : 'ipv4');
}
