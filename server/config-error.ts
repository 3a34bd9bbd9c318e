/** A setting that makes no sense, described in one line: which, what it was, what it must be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
