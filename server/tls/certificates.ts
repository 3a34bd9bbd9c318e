import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { ConfigError } from '../base/config-error.ts';
import type { Logger } from '../base/logger.ts';
import { writeDurably } from '../base/write-durably.ts';
import { type MachineNames, readMachineNames } from './machine-names.ts';
import { makeCa, makeServerPair, type Pair } from './make-certificates.ts';

/** A certificate is made again when it has less life left than this. */
const RENEW_BEFORE_MS = 30 * 24 * 60 * 60_000;

interface OwnCertificates {
  readonly ca: X509Certificate;
  readonly server: Pair;
  /** False when what was kept is still right. */
  readonly isNew: boolean;
}

/**
 * The CA and the server's certificate of the data directory, each made when it
 * is not there, cannot be read, ends soon, or does not fit: the server's when a
 * name or address of the machine is missing in it.
 */
async function openOwnCertificates(
  dataDir: string,
  machine: MachineNames,
  now: number,
): Promise<OwnCertificates> {
  const dir = join(dataDir, 'tls');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await chmod(dir, 0o700);
  const keptCa = await readPair(dir, 'ca');
  const ca = keptCa && lasts(keptCa, now) ? keptCa : await makeCa(ownerOf(machine), now);
  if (ca !== keptCa) await writePair(dir, 'ca', ca);
  const kept = await readPair(dir, 'server');
  const fits = kept && lasts(kept, now) && isSignedBy(kept, ca) && names(kept, machine);
  const server = fits ? kept : await makeServerPair(ca, machine, now);
  if (server !== kept) await writePair(dir, 'server', server);
  return { ca: new X509Certificate(ca.cert), server, isNew: server !== kept };
}

const ownerOf = ({ names: [, own = 'this machine'] }: MachineNames): string => own;

/** Undefined when it is not there, or is no pair: then it is made again. */
async function readPair(dir: string, name: string): Promise<Pair | undefined> {
  try {
    const [cert, key] = await Promise.all([
      readFile(join(dir, `${name}.crt`), 'utf8'),
      readFile(join(dir, `${name}.key`), 'utf8'),
    ]);
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
      ? { cert, key }
      : undefined;
  } catch (error) {
    if (isReadingFault(error)) throw error;
    return undefined;
  }
}

/** A person has to mend these; a file that is missing, or holds something else, is made again. */
const isReadingFault = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && !('code' in error && error.code === 'ENOENT');

/** The key first: a crash in between leaves a pair that does not fit, and is made again. */
async function writePair(dir: string, name: string, { cert, key }: Pair): Promise<void> {
  await writeDurably(dir, `${name}.key`, Buffer.from(key));
  await writeDurably(dir, `${name}.crt`, Buffer.from(cert));
}

const lasts = ({ cert }: Pair, now: number): boolean => {
  const { validFrom, validTo } = new X509Certificate(cert);
  return Date.parse(validFrom) <= now && now + RENEW_BEFORE_MS < Date.parse(validTo);
};

function isSignedBy({ cert }: Pair, ca: Pair): boolean {
  const authority = new X509Certificate(ca.cert);
  const own = new X509Certificate(cert);
  return own.checkIssued(authority) && own.verify(authority.publicKey);
}

function names({ cert }: Pair, machine: MachineNames): boolean {
  const own = new X509Certificate(cert);
  return (
    machine.names.every((name) => own.checkHost(name) !== undefined) &&
    machine.addresses.every((address) => own.checkIP(address) !== undefined)
  );
}

/** How often addresses of the machine, given files and days left are looked at. */
const CHECK_MS = 60_000;

export interface CertificatesOptions {
  readonly dataDir: string;
  /** `--cert` and `--key` name them. */
  readonly given: { readonly cert: string; readonly key: string } | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly machine?: () => MachineNames;
}

/** Opens the given certificate, or the own one. Throws `ConfigError` when the given one is wrong. */
export async function openCertificates(options: CertificatesOptions) {
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
    /** The CA to install on phones; undefined when the certificate was given. */
    ca: () => ca,
    /** Calls with each new context; returns what ends the checks. */
    follow(changed: (context: SecureContextOptions) => void): () => void {
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
    // OpenSSL names no fault that a person could mend.
    return undefined;
  }
}

const wrong = (option: string, file: string, what: string): ConfigError =>
  new ConfigError(`${option} ${file} ${what}`);
