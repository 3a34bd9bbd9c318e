import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../config-error.ts';
import type { Logger } from '../logger.ts';
import { type MachineNames, readMachineNames } from './machine-names.ts';
import type { Pair } from './make-certificates.ts';
import { openOwnCertificates } from './own-certificates.ts';

/** How often addresses of the machine, given files and days left are looked at. */
const CHECK_MS = 60_000;

/** The certificate that counts now. */
export interface Certificates {
  context(): SecureContextOptions;
  /** The CA to install on phones; undefined when the certificate was given. */
  readonly ca: () => X509Certificate | undefined;
  /** Calls with each new context; returns what ends the checks. */
  follow(changed: (context: SecureContextOptions) => void): () => void;
}

export interface CertificatesOptions {
  readonly dataDir: string;
  /** Of `--cert` and `--key`. */
  readonly given: { readonly cert: string; readonly key: string } | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly machine?: () => MachineNames;
}

/** Opens the given certificate, or the own one. Throws `ConfigError` when the given one is wrong. */
export async function openCertificates(options: CertificatesOptions): Promise<Certificates> {
  const { dataDir, given, clock, logger, machine = readMachineNames } = options;
  let current: Pair;
  let ca: X509Certificate | undefined;

  const read = async (): Promise<Pair> => {
    if (given) return readGivenPair(given, clock.now());
    const own = await openOwnCertificates(dataDir, machine(), clock.now());
    ca = own.ca;
    return own.server;
  };
  current = await read();
  createSecureContext(toContext(current));

  return {
    context: () => toContext(current),
    ca: () => ca,
    follow(changed) {
      let cancel = () => {};
      let isStopped = false;
      const check = async () => {
        const next = await read();
        if (next.cert === current.cert && next.key === current.key) return;
        createSecureContext(toContext(next));
        current = next;
        changed(toContext(next));
      };
      const again = () => {
        if (isStopped) return;
        cancel = clock.schedule(CHECK_MS, () => {
          // A pair that is wrong now, or half written, leaves the one that works.
          check().catch(logger.error).finally(again);
        });
      };
      again();
      return () => {
        isStopped = true;
        cancel();
      };
    },
  };
}

const toContext = ({ cert, key }: Pair): SecureContextOptions => ({ cert, key });

/** Reads the pair of `--cert` and `--key`. Throws `ConfigError` with what is wrong of it. */
async function readGivenPair(
  files: { readonly cert: string; readonly key: string },
  now: number,
): Promise<Pair> {
  const cert = await readText('--cert', files.cert);
  const key = await readText('--key', files.key);
  const certificate = parsed(() => new X509Certificate(cert));
  if (!certificate) throw wrong('--cert', files.cert, 'holds no certificate as PEM');
  const privateKey = parsed(() => createPrivateKey(key));
  if (!privateKey) {
    throw wrong('--key', files.key, 'holds no private key as PEM, or one with a passphrase');
  }
  if (!certificate.checkPrivateKey(privateKey)) {
    throw wrong('--key', files.key, `is not the key of the certificate in ${files.cert}`);
  }
  if (Date.parse(certificate.validTo) <= now) {
    throw wrong('--cert', files.cert, `holds a certificate that expired on ${certificate.validTo}`);
  }
  return { cert, key };
}

async function readText(option: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw wrong(option, file, `cannot be read (${code})`);
  }
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    // What OpenSSL says of it names no fault that a person could mend.
    return undefined;
  }
}

const wrong = (option: string, file: string, what: string): ConfigError =>
  new ConfigError(`${option} ${file} ${what}`);
