import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';

const packageOf = (folder: string): string => join(folder, 'package.json');

/** The folder of Callboard's package. Bundled code lies in its `dist`, sources lie two folders deep. */
export const PROJECT = resolve(
  import.meta.dirname,
  existsSync(packageOf(resolve(import.meta.dirname, '..'))) ? '..' : '../..',
);

/** The version of Callboard, as its package has it. */
export function readVersion(): string {
  const facts: unknown = JSON.parse(readFileSync(packageOf(PROJECT), 'utf8'));
  return z.object({ name: z.literal('callboard'), version: z.string() }).parse(facts).version;
}

/** Code that runs outside this process or thread: from the build, or in development from source. */
export function threadFile(development: boolean, built: string, source: string): string {
  const file = join(PROJECT, 'dist', built);
  return !development && existsSync(file) ? file : join(PROJECT, 'server', source);
}
