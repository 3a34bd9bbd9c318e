import { statSync } from 'node:fs';

/** A setting that makes no sense, described in one line: which, what it was, what it must be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const OTHERS_WRITE = 0o022;

/**
 * Throws `ConfigError` where others than the owner may write a file that is code, or names code:
 * they could run anything as this user. `named` says what it names, for the error.
 */
export function refuseWritable(file: string, named: string): void {
  // Windows has no such modes.
  if (process.platform === 'win32') return;
  const { mode } = statSync(file);
  if ((mode & OTHERS_WRITE) === 0) return;
  throw new ConfigError(
    `${file} ${named}, and others than its owner may write it (mode ${(mode & 0o777).toString(8)}): chmod go-w ${file}`,
  );
}
