import type { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { readGivenPair } from './given-certificate.ts';
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
