import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from './config-error.ts';

/** Throws `ConfigError`, which names the setting. */
export function readText(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(
      `${setting} is ${JSON.stringify(file)}: it cannot be read (${String(error)})`,
    );
  }
}

/** Paths in the file are relative to its folder. */
export const besideFile = (file: string, path: string): string => resolve(dirname(file), path);
