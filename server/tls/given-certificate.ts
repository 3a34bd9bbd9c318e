import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ConfigError } from '../config-error.ts';
import type { Pair } from './make-certificates.ts';

/** Reads the pair of `--cert` and `--key`. Throws `ConfigError` with what is wrong of it. */
export async function readGivenPair(
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
