import { X509Certificate } from 'node:crypto';
import type { MachineNames } from './machine-names.ts';

/** A certificate and its key, as PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

const DAY_MS = 24 * 60 * 60_000;
const CA_DAYS = 3_650;
/** Apple's systems and Chrome take no longer life of a server's certificate than 398 days. */
const SERVER_DAYS = 397;
/** The clock of a phone may be behind ours. */
const BEHIND_MS = DAY_MS;

/** Loaded when a certificate is made: else it would be an eighth of the time of every start. */
const loadGenerate = async () => (await import('selfsigned')).generate;

const CURVE = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;

/** A CA of this server alone: it signs certificates of servers, and no further CA. */
export async function makeCa(owner: string, now: number): Promise<Pair> {
  const name = `Callboard CA of ${owner}`.slice(0, 64);
  const generate = await loadGenerate();
  const made = await generate([{ name: 'commonName', value: name }], {
    ...CURVE,
    notBeforeDate: new Date(now - BEHIND_MS),
    notAfterDate: new Date(now + CA_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert: made.cert, key: made.private };
}

/** Signed by the CA, for all names and addresses of the machine. */
export async function makeServerPair(
  ca: Pair,
  { names, addresses }: MachineNames,
  now: number,
): Promise<Pair> {
  const until = Math.min(
    now - BEHIND_MS + SERVER_DAYS * DAY_MS,
    Date.parse(new X509Certificate(ca.cert).validTo),
  );
  const generate = await loadGenerate();
  const made = await generate([{ name: 'commonName', value: 'Callboard' }], {
    ...CURVE,
    ca,
    notBeforeDate: new Date(now - BEHIND_MS),
    notAfterDate: new Date(until),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          ...names.map((value) => ({ type: 2 as const, value })),
          ...addresses.map((ip) => ({ type: 7 as const, ip })),
        ],
      },
    ],
  });
  // The CA stands behind it, so that the trust page need not be the only place to find it.
  return { cert: `${made.cert.trimEnd()}\n${ca.cert.trimEnd()}\n`, key: made.private };
}
