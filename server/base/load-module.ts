import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ConfigError, refuseWritable } from './config-error.ts';

interface NamedModule<T> {
  /** Errors say by it what the module is for: `hook`, `tool`. */
  readonly kind: string;
  /** Its path, from the folder of the configuration file. */
  readonly module: string;
  /** Given what it exports, and its path. What it throws says why the module cannot be used. */
  use(exported: Readonly<Record<string, unknown>>, path: string): T | Promise<T>;
}

/** A module that the configuration names. Throws `ConfigError`: a server without it is another one. */
export async function loadModule<T>(
  { filePath }: { readonly filePath: string },
  { kind, module, use }: NamedModule<T>,
): Promise<T> {
  const path = resolve(dirname(filePath), module);
  refuseWritable(filePath, `names code to run (the ${kind} ${JSON.stringify(module)})`);
  if (existsSync(path)) refuseWritable(path, 'is code to run');
  try {
    return await use({ ...(await import(/* @vite-ignore */ pathToFileURL(path).href)) }, path);
  } catch (error) {
    const why = error instanceof z.ZodError ? error.issues[0]?.message : String(error);
    throw new ConfigError(
      `${filePath}: the ${kind} ${JSON.stringify(path)} cannot be used: ${why}`,
    );
  }
}
