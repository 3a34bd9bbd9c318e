import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../blobs/write-durably.ts';
import type { MachineNames } from './machine-names.ts';
import { makeCa, makeServerPair, type Pair } from './make-certificates.ts';

/** A certificate is made again when it has less life left than this. */
const RENEW_BEFORE_MS = 30 * 24 * 60 * 60_000;

export interface OwnCertificates {
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
export async function openOwnCertificates(
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

/** What a person has to mend; a file that is missing, or holds something else, is made again. */
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
