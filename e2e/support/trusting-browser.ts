import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, chromium } from '@playwright/test';
import type { Callboard } from '../start-callboard.ts';
import { headlessShell } from './browsers.ts';

/** `--ignore-certificate-errors-spki-list` takes this: a browser with it trusts this key and no other. */
export async function keyOfCa({ dataDir }: Callboard): Promise<string> {
  const ca = new X509Certificate(await readFile(join(dataDir, 'tls', 'ca.crt')));
  const key = ca.publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('base64');
}

export const launchTrusting = (trusted: string): Promise<Browser> =>
  chromium.launch({
    ...headlessShell,
    args: ['--no-sandbox', `--ignore-certificate-errors-spki-list=${trusted}`],
  });
