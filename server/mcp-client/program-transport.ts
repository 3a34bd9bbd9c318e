import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** After it was asked to end. */
const KILL_AFTER_MS = 1_500;

/**
 * A program, by its standard streams. It is asked which protocol it speaks in place, and not as a
 * second process of which nothing would be known here: what does not end by itself is killed.
 */
export class ProgramTransport extends StdioClientTransport {
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
