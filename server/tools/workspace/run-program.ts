import type { ChildProcess } from 'node:child_process';
import { codeOf } from './open-folder.ts';
import { type Isolation, type StartedProgram, startProgram } from './start-program.ts';

export const OUTPUT_BYTES = 1024 * 1024;
/** For what is still in the pipes when the program has ended. */
const DRAIN_MS = 500;

interface Program {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where it is not given the program runs among all others. */
  readonly isolation?: Isolation | undefined;
  /** Ends the program and all that it started. */
  readonly signal: AbortSignal;
  readonly tailChars: number;
  /** Called with the end of what was written so far, whenever there is more. */
  onOutput(tail: string): void;
}

export type EndedProgram =
  | { readonly kind: 'not_started'; readonly reason: string }
  | {
      readonly kind: 'ended';
      readonly exitCode: number | null;
      /** The signal that ended it. */
      readonly endedBy: string | null;
      readonly stdout: string;
      readonly stderr: string;
      /** There was more output than is kept. */
      readonly isCut: boolean;
    };

/**
 * Runs a program in a process group of its own. When it ends, so does the group: nothing that it
 * started goes on, unless that left the group on purpose; with an isolation that does not go on
 * either. Rejects with the signal's reason.
 */
export function runProgram(options: Program): Promise<EndedProgram> {
  const { program, args, cwd, env, isolation, signal } = options;
  signal.throwIfAborted();
  const started = startProgram({ program, args: [...args], cwd, env: { ...env } }, isolation);
  const { child } = started;
  const output = collectOutput(started, options);
  const end = () => endGroup(child);
  signal.addEventListener('abort', end, { once: true });
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      signal.removeEventListener('abort', end);
      resolve({ kind: 'not_started', reason: codeOf(error) ?? error.message });
    });
    // What it left running holds the pipes, and is ended first; what got away is not waited for.
    child.on('exit', () => {
      end();
      setTimeout(() => output.stop(), DRAIN_MS).unref();
    });
    child.on('close', (exitCode, endedBy) => {
      signal.removeEventListener('abort', end);
      const taken = output.take();
      const ended = started.endOf(exitCode, endedBy, taken.stderr);
      if (signal.aborted) reject(signal.reason);
      else resolve(ended.kind === 'ended' ? { ...ended, ...taken } : ended);
    });
  });
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  if (process.platform === 'win32') return void child.kill('SIGKILL');
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // All of it has ended, or what is left belongs to another user.
    if (!['ESRCH', 'EPERM'].includes(codeOf(error) ?? '')) throw error;
  }
}

function collectOutput(
  { stdout, stderr }: Pick<StartedProgram, 'stdout' | 'stderr'>,
  { onOutput, tailChars }: Pick<Program, 'onOutput' | 'tailChars'>,
) {
  const kept = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let room = OUTPUT_BYTES;
  let isCut = false;
  let tail = '';
  const collect = (to: Buffer[]) => (chunk: Buffer) => {
    isCut ||= chunk.length > room;
    // A copy: a part of the chunk would keep all of it.
    if (room > 0) to.push(Buffer.from(chunk.subarray(0, room)));
    room = Math.max(0, room - chunk.length);
    tail = (tail + chunk.subarray(-4 * tailChars).toString('utf8')).slice(-tailChars);
    onOutput(tail);
  };
  stdout.on('data', collect(kept.stdout));
  stderr.on('data', collect(kept.stderr));
  const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString('utf8');
  return {
    take: () => ({ stdout: text(kept.stdout), stderr: text(kept.stderr), isCut }),
    stop() {
      for (const pipe of [stdout, stderr]) pipe.destroy();
    },
  };
}
