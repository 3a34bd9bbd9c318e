import { text as readText } from 'node:stream/consumers';
import { errorMessage } from '#lib/util/error-message';
import { connect, dataDirOf, type Environment } from './connect.ts';
import { CliError, type ExitName } from './exit-codes.ts';
import type { Output, Sink } from './output.ts';

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

/** A command reads its line, its place and its terminal by this. */
export type Context = ReturnType<typeof createContext>;

export interface Terminal {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream & Pick<Sink, 'isTTY' | 'columns'>;
  readonly stderr: NodeJS.WritableStream;
  readonly prompt: Prompt;
}

export interface CliInput {
  /** Behind the program's name. */
  readonly line: readonly string[];
  readonly env: Environment;
  readonly cwd: string;
  readonly terminal: Terminal;
  readonly version: string;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
}

export interface ParsedLine {
  readonly args: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
}

export function createContext(
  { args, values }: ParsedLine,
  { env, cwd, terminal, signal }: CliInput,
  out: Output,
) {
  const text = (option: string) => {
    const value = values[option];
    return typeof value === 'string' ? value : undefined;
  };
  const place = { env, cwd, text };
  const noPrompt: Prompt = { isThere: false, ask: async () => null };
  return {
    ...place,
    args,
    out,
    signal,
    stdout: terminal.stdout,
    flag: (option: string) => values[option] === true,
    /** Asked for when a command needs it: the address, the token and trust are found then. */
    server: () => connect(place),
    dataDir: () => dataDirOf(place),
    // A question would not be seen with --json: scripts decide by options.
    prompt: out.isJson ? noPrompt : terminal.prompt,
    /** All of stdin. */
    readInput: () =>
      readText(terminal.stdin).catch((error: unknown) => {
        throw new CliError('failed', `stdin cannot be read: ${errorMessage(error)}`);
      }),
  };
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
