import { ChildProcess } from 'node:child_process';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { takeLines } from './whole-lines.ts';

/** After it was asked to end. */
const KILL_AFTER_MS = 1_500;

/**
 * A program, by its standard streams. It is asked which protocol it speaks in place, and not as a
 * second process of which nothing would be known here: what does not end by itself is killed.
 */
export class ProgramTransport extends StdioClientTransport {
  readonly #mostBytes: number;

  constructor(
    program: ConstructorParameters<typeof StdioClientTransport>[0] & { maxBufferSize: number },
  ) {
    super(program);
    this.#mostBytes = program.maxBufferSize;
  }

  override async start(): Promise<void> {
    await super.start();
    this.#takeTurns();
  }

  /** The package reads all that comes at once, which leaves no time for anything else. */
  #takeTurns(): void {
    const program: unknown = Reflect.get(this, '_process');
    const stdout = program instanceof ChildProcess ? program.stdout : undefined;
    const [take] = stdout?.listeners('data') ?? [];
    if (!stdout || !take) throw new Error('The output of the program cannot be read');
    stdout.removeAllListeners('data');
    takeLines(stdout, (bytes) => void Reflect.apply(take, stdout, [bytes]), this.#mostBytes).catch(
      (error: unknown) => this.onerror?.(error instanceof Error ? error : new Error(String(error))),
    );
  }

  override async close(): Promise<void> {
    const { pid } = this;
    const closed = super.close();
    if (pid === null) return closed;
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
