import { ConfigError } from './config.ts';

export interface Arguments {
  /** Make a damaged store usable again, with what can be read of it. */
  readonly salvage: boolean;
  /** What a start prints is one line of JSON. */
  readonly json: boolean;
  /** Listen on the network, by TLS alone. */
  readonly lan: boolean;
  /** Files of a certificate that was given, and of its key. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Listen on the network without TLS, where everyone on it can read everything. */
  readonly insecurePlaintextLan: boolean;
}

const SWITCHES = ['--salvage', '--json', '--lan', '--insecure-plaintext-lan'];
const WITH_FILE = ['--cert', '--key'];

/** Reads the arguments after the program's name. Throws `ConfigError` for an unknown one. */
export function readArguments(args: readonly string[]): Arguments {
  const switches = new Set<string>();
  const files = new Map<string, string>();
  for (let at = 0; at < args.length; at += 1) {
    const [name = '', ...rest] = (args[at] ?? '').split('=');
    if (WITH_FILE.includes(name)) {
      const file = rest.length > 0 ? rest.join('=') : (args[++at] ?? '');
      if (file === '' || file.startsWith('--')) throw noFile(name);
      files.set(name, file);
    } else if (SWITCHES.includes(args[at] ?? '')) switches.add(name);
    else throw unknown(args[at] ?? '');
  }
  return {
    salvage: switches.has('--salvage'),
    json: switches.has('--json'),
    lan: switches.has('--lan'),
    cert: files.get('--cert'),
    key: files.get('--key'),
    insecurePlaintextLan: switches.has('--insecure-plaintext-lan'),
  };
}

const noFile = (name: string): ConfigError =>
  new ConfigError(
    `${name} has no file behind it; it must be as in --cert board.crt --key board.key`,
  );

const unknown = (argument: string): ConfigError =>
  new ConfigError(
    `${JSON.stringify(argument)} is not an argument of Callboard; they are --salvage (keeps what can be read of a damaged store), --json (prints where to go as JSON), --lan (listens on the network, by TLS), --cert FILE and --key FILE (a certificate of yours), and --insecure-plaintext-lan. Other settings are environment variables`,
  );
