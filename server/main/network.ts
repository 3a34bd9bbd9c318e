import { parseArgs } from 'node:util';
import { errorMessage } from '#lib/util/error-message';
import { type Config, ConfigError } from './config.ts';
import * as rooms from './rooms.ts';

export interface Arguments {
  /** A damaged store is made usable again, with what can be read of it. */
  readonly salvage: boolean;
  /** A start prints one line of JSON. */
  readonly json: boolean;
  /** The server listens on the network, by TLS alone. */
  readonly lan: boolean;
  /** These name the files of a certificate that was given, and of its key. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The server listens on the network without TLS, where everyone on it can read everything. */
  readonly insecurePlaintextLan: boolean;
}

const OPTIONS = {
  salvage: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  lan: { type: 'boolean', default: false },
  'insecure-plaintext-lan': { type: 'boolean', default: false },
  cert: { type: 'string' },
  key: { type: 'string' },
} as const;

const ARGUMENTS =
  '--salvage (keeps what can be read of a damaged store), --json (prints where to go as JSON), --lan (listens on the network, by TLS), --cert FILE and --key FILE (a certificate of yours), and --insecure-plaintext-lan. Other settings are environment variables, and options of a command go behind its name';

/** Reads the arguments after the program's name. Throws `ConfigError` for an unknown one. */
export function readArguments(args: readonly string[]): Arguments {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    const { 'insecure-plaintext-lan': insecurePlaintextLan, cert, key, ...switches } = values;
    return { ...switches, cert, key, insecurePlaintextLan };
  } catch (error) {
    // Node's own hints follow in further sentences and lines.
    const [problem] = errorMessage(error).split(/\. |\n/);
    throw new ConfigError(`${problem}; the arguments of Callboard are ${ARGUMENTS}`);
  }
}

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
