import { ChildProcess } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { readJson } from '#lib/json/parse-json';
import { MessageTooLargeError } from './bounded-fetch.ts';
import { takeLines } from './whole-lines.ts';

const MOST_BYTES = 8 * 1024;

/** The last of what a program wrote to its error output. */
export class OutputTail {
  #text = '';
  #decoder = new StringDecoder('utf8');

  add(chunk: Uint8Array): void {
    // A longer text is cut in any case: no more of it is decoded.
    const end = chunk.subarray(-2 * MOST_BYTES);
    this.#text = lastOf(`${this.#text}${this.#decoder.write(Buffer.from(end))}`);
  }

  get text(): string {
    return this.#text;
  }
}

/** From the beginning of a line on: half of a secret would not be known as one. */
function lastOf(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MOST_BYTES) return text;
  const cut = bytes.subarray(-MOST_BYTES).toString();
  const line = cut.indexOf('\n');
  return line < 0 ? '' : cut.slice(line + 1);
}

/** After it was asked to end. */
const KILL_AFTER_MS = 1_500;

interface Reading {
  /** What the program writes to its error output goes here. */
  readonly tail: OutputTail;
  /** One message has so much at most. */
  readonly mostBytes: number;
  readonly read: (came: unknown) => readonly JSONRPCMessage[];
}

/**
 * A program, by its standard streams. It is asked which protocol it speaks in place, and not as a
 * second process of which nothing would be known here: what does not end by itself is killed.
 */
export class ProgramTransport extends StdioClientTransport {
  /** How it ended, where that was by itself. */
  ended: string | undefined;
  readonly #reading: Reading;
  /** The error output of this program alone: the one before it may have ended within a line. */
  readonly #written = new OutputTail();
  #isStopped = false;

  constructor(program: ConstructorParameters<typeof StdioClientTransport>[0], reading: Reading) {
    super(program);
    this.#reading = reading;
  }

  override async start(): Promise<void> {
    await super.start();
    this.#takeTurns();
  }

  /** The last line of its error output. */
  get lastWords(): string {
    return this.#written.text.trimEnd().split('\n').at(-1)?.slice(0, 500) ?? '';
  }

  /** The package reads all that comes at once, which leaves no time for anything else. */
  #takeTurns(): void {
    const program: unknown = Reflect.get(this, '_process');
    const stdout = program instanceof ChildProcess ? program.stdout : undefined;
    if (!(program instanceof ChildProcess) || !stdout)
      throw new Error('The output of the program cannot be read');
    program.once('exit', (code, name) => {
      // One that has failed may be asked to end before that is known.
      if (this.#isStopped && !code) return;
      this.ended = code === null ? `by ${name}` : `with the exit code ${code}`;
    });
    program.stderr?.on('data', (chunk) => {
      this.#written.add(chunk);
      this.#reading.tail.add(chunk);
    });
    stdout.removeAllListeners('data');
    const { mostBytes } = this.#reading;
    takeLines(stdout, (lines) => this.#take(lines), mostBytes).catch((error: unknown) => {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      this.close().catch((failed: Error) => this.onerror?.(failed));
    });
  }

  #take(lines: Buffer): void {
    const { mostBytes, read } = this.#reading;
    if (lines.length > mostBytes) throw new MessageTooLargeError(mostBytes);
    for (const line of lines.toString().split('\n')) {
      for (const message of read(readJson(line))) this.onmessage?.(message);
    }
  }

  override async close(): Promise<void> {
    const { pid } = this;
    const closed = super.close();
    if (pid === null) return closed;
    this.#isStopped = true;
    // Until `closed` the process is not reaped, so the number is still its own.
    signal(pid, 'SIGTERM');
    const timer = setTimeout(() => signal(pid, 'SIGKILL'), KILL_AFTER_MS);
    await closed;
    clearTimeout(timer);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It has ended by itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
