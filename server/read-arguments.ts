import { ConfigError } from './config.ts';

export interface Arguments {
  /** Make a damaged store usable again, with what can be read of it. */
  readonly salvage: boolean;
}

/** Reads the arguments after the program's name. Throws `ConfigError` for an unknown one. */
export function readArguments(args: readonly string[]): Arguments {
  const unknown = args.find((argument) => argument !== '--salvage');
  if (unknown === undefined) return { salvage: args.length > 0 };
  throw new ConfigError(
    `${JSON.stringify(unknown)} is not an argument of Callboard; the only one is --salvage, which keeps what can be read of a damaged store. Settings are environment variables`,
  );
}
