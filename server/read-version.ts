import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';

/** From `dist`, where it lies bundled, and from its source alike. */
const PACKAGE_FILE = resolve(import.meta.dirname, '../package.json');

/** Of Callboard, as its package has it. */
export function readVersion(): string {
  const facts: unknown = JSON.parse(readFileSync(PACKAGE_FILE, 'utf8'));
  return z.object({ name: z.literal('callboard'), version: z.string() }).parse(facts).version;
}
