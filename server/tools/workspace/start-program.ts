import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { type ProgramOrder, type ProgramReport, reportSchema } from './program-message.ts';

/** What starts a program in a PID namespace of its own, with a `/proc` that has nothing else. */
export interface Isolation {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A program whose output and end are followed. It leads a process group of its own. */
export interface StartedProgram {
  readonly child: ChildProcess;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What the end of `child` says of the program. `errors` is what came on its standard error. */
  endOf(exitCode: number | null, endedBy: string | null, errors: string): ProgramEnd;
}

export type ProgramEnd = Exclude<ProgramReport, { kind: 'started' }>;

const GROUP = { shell: false, detached: process.platform !== 'win32', windowsHide: true };

export function startProgram(
  order: ProgramOrder,
  isolation: Isolation | undefined,
): StartedProgram {
  return isolation ? startIsolated(order, isolation) : startPlainly(order);
}

function startPlainly({ program, args, cwd, env }: ProgramOrder): StartedProgram {
  const child = spawn(program, args, {
    // Next's types ask for NODE_ENV in each environment.
    env: env as NodeJS.ProcessEnv,
    ...{ ...GROUP, cwd },
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

/** What starts it is given neither its arguments nor its environment, which could change what that does. */
function startIsolated(order: ProgramOrder, { command, args, env }: Isolation): StartedProgram {
  const child = spawn(command, args, {
    env: env as NodeJS.ProcessEnv,
    ...{ ...GROUP, cwd: '/' },
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
    ...{ child, stdout, stderr },
    endOf(exitCode, endedBy, errors) {
      const reports = text.split('\n').flatMap(toReport);
      const last = reports.at(-1);
      if (last && last.kind !== 'started') return last;
      if (last) return { kind: 'ended', exitCode, endedBy };
      const reason = errors.trim() || `${endedBy ?? `exit code ${exitCode}`}`;
      return { kind: 'not_started', reason: `no PID namespace (${reason})` };
    },
  };
}

/** A line that was cut off says nothing. */
function toReport(line: string): ProgramReport[] {
  try {
    return [reportSchema.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}
