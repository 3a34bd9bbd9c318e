import type { DataDir, Place, ServerOptions } from './connect.ts';
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

/** Says what the exit code of each command means; `docs/cli.md` has the same table. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'done' },
  failed: { code: 1, meaning: 'failed; the reason is on stderr' },
  usage: {
    code: 2,
    meaning: 'the command line, or what it gave the server, is wrong (HTTP 400 and 422 too)',
  },
  unreachable: { code: 3, meaning: 'no server runs there, or it cannot be reached or trusted' },
  refused: { code: 4, meaning: 'the server refused the token or its rights (HTTP 401 and 403)' },
  notFound: { code: 5, meaning: 'there is no such tool, call, run, device, pairing or file' },
  callError: { code: 6, meaning: 'the call ended with the card ERROR' },
  waiting: { code: 7, meaning: 'the time was over first: a call or a pairing still waits' },
  storeFailed: { code: 74, meaning: 'the disk cannot be written' },
  inUse: { code: 75, meaning: 'a server has the data directory' },
  storeDamaged: { code: 78, meaning: 'the store is damaged' },
  interrupted: { code: 130, meaning: 'ended by Ctrl+C' },
} as const;
export type ExitName = keyof typeof EXIT_CODES;

/** It ends a command with one line of what was wrong and what would be right. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exit: ExitName;
  /** A code of the server, where it refused. */
  readonly code: string | undefined;

  constructor(exit: ExitName, message: string, code?: string) {
    super(message);
    this.exit = exit;
    this.code = code;
  }
}
