import type { DataDir, Place, ServerOptions } from './connect.ts';
import type { ExitName } from './exit-codes.ts';
import type { Output } from './output.ts';
import type { ServerApi } from './server-api.ts';

export interface Option {
  readonly type: 'string' | 'boolean';
  /** It stands for the value in the help; an option without a value has none. */
  readonly value?: string;
  readonly text: string;
}

/** Every command takes these, but for those that need no server. */
export const COMMON_OPTIONS: Readonly<Record<string, Option>> = {
  json: { type: 'boolean', text: 'print one JSON document on stdout and nothing else there' },
  url: { type: 'string', value: 'address', text: 'the server, such as http://127.0.0.1:3000' },
  token: {
    type: 'string',
    value: 'token',
    text: 'its token; CALLBOARD_TOKEN is not visible to others on this machine',
  },
  'data-dir': { type: 'string', value: 'folder', text: 'the data directory of the server' },
  ca: { type: 'string', value: 'file', text: 'a certificate authority to trust, as PEM' },
  help: { type: 'boolean', text: 'print this help' },
};

export interface Context {
  readonly args: readonly string[];
  readonly out: Output;
  /** Texts of options that were given. */
  text(name: string): string | undefined;
  flag(name: string): boolean;
  /** Asked for when a command needs it: the address, the token and trust are found then. */
  server(): ServerApi;
  dataDir(): DataDir;
  readonly prompt: Prompt;
  readonly place: Place;
  /** Which server, as the command line names it. */
  readonly options: ServerOptions;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
  /** All of stdin. */
  readInput(): Promise<string>;
  readonly stdout: NodeJS.WritableStream;
}

/** A person at the terminal; absent in scripts. */
export interface Prompt {
  readonly isThere: boolean;
  /** Null: the terminal was closed. */
  ask(question: string): Promise<string | null>;
}

export interface Command {
  readonly name: string;
  /** It describes what follows the name, such as `<tool> [json]`. */
  readonly parameters: string;
  readonly summary: string;
  /** Most arguments that it takes, and fewest. */
  readonly counts: readonly [fewest: number, most: number];
  readonly options?: Readonly<Record<string, Option>>;
  /** A text of the help below the options; lines are joined and broken anew. */
  readonly notes?: readonly string[];
  run(context: Context): Promise<ExitName>;
}
