import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { readJson } from '#lib/json/parse-json';
import { codeOf } from './open-folder.ts';
import { type ProgramOrder, type ProgramReport, reportSchema } from './program-message.ts';

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
  const order = { program, args: [...args], cwd, env: { ...env } };
  const started = isolation ? startIsolated(order, isolation) : startPlainly(order);
  const { child } = started;
  const output = collectOutput(started, options);
  const end = () => endGroup(child);
  signal.addEventListener('abort', end, { once: true });
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      signal.removeEventListener('abort', end);
      resolve({ kind: 'not_started', reason: codeOf(error) ?? error.message });
    });
    // Processes that it left running hold the pipes, and are ended first; those that got away are not waited for.
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

/** It starts a program in a PID namespace of its own, with a `/proc` that has nothing else. */
export interface Isolation {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A program whose output and end are followed. It leads a process group of its own. */
interface StartedProgram {
  readonly child: ChildProcess;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Reads what the end of `child` says of the program. `errors` is what came on its standard error. */
  endOf(exitCode: number | null, endedBy: string | null, errors: string): ProgramEnd;
}

type ProgramEnd = Exclude<ProgramReport, { kind: 'started' }>;

const GROUP = { shell: false, detached: process.platform !== 'win32', windowsHide: true };

function startPlainly({ program, args, cwd, env }: ProgramOrder): StartedProgram {
  const child = spawn(program, args, {
    // Next's types ask for NODE_ENV in each environment.
    env: env as NodeJS.ProcessEnv,
    ...GROUP,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr } = child;
  return {
    child,
    stdout,
    stderr,
    endOf: (exitCode, endedBy) => ({ kind: 'ended', exitCode, endedBy }),
  };
}

/** The starter is given neither its arguments nor its environment, which could change what that does. */
function startIsolated(order: ProgramOrder, { command, args, env }: Isolation): StartedProgram {
  const child = spawn(command, args, {
    env: env as NodeJS.ProcessEnv,
    ...GROUP,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const { stdout, stderr } = child;
  const channel = child.stdio[3];
  if (!stdout || !stderr || !(channel instanceof Socket)) throw new Error('It has no pipes');
  let text = '';
  channel.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  // It ended before it has read its order: the end is the reason.
  channel.on('error', () => undefined);
  channel.write(`${JSON.stringify(order)}\n`);
  return {
    child,
    stdout,
    stderr,
    endOf(exitCode, endedBy, errors) {
      // A line that was cut off says nothing.
      const last = text
        .split('\n')
        .flatMap((line) => reportSchema.safeParse(readJson(line)).data ?? [])
        .at(-1);
      if (last && last.kind !== 'started') return last;
      if (last) return { kind: 'ended', exitCode, endedBy };
      const reason = errors.trim() || `${endedBy ?? `exit code ${exitCode}`}`;
      return { kind: 'not_started', reason: `no PID namespace (${reason})` };
    },
  };
}
