import { type Config, ConfigError } from './config.ts';
import type { Arguments } from './read-arguments.ts';
import * as rooms from './rooms.ts';

type Options = Pick<Config, 'host' | 'development' | 'publicUrl' | 'trustedProxies'>;

/** Decides how the server is reached. Throws `ConfigError` for what would expose it without TLS. */
export function readNetwork(
  config: Options,
  args: Omit<Arguments, 'salvage' | 'json'>,
): rooms.tls.Network {
  const { publicUrl, trustedProxies } = config;
  const tls = chooseTls(args);
  const host = config.host ?? (args.lan ? '::' : '127.0.0.1');
  const isOpen = !rooms.tls.isLoopbackHost(host);
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

function chooseTls({
  lan,
  cert,
  key,
}: Omit<Arguments, 'salvage' | 'json'>): rooms.tls.Network['tls'] {
  if (cert !== undefined && key !== undefined) return { kind: 'given', cert, key };
  if (cert === undefined && key === undefined) return lan ? { kind: 'own' } : { kind: 'none' };
  const [given, missing] = cert === undefined ? ['--key', '--cert'] : ['--cert', '--key'];
  throw new ConfigError(
    `${given} is given without ${missing}; both are needed, as in --cert board.crt --key board.key`,
  );
}
