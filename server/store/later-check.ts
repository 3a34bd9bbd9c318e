import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { z } from 'zod';
import { StoreDamagedError } from './store-damaged-error.ts';

const answerSchema = z.object({ problem: z.string().nullable() });

/**
 * Reads every page and row of a store that was opened on trust, while it is in
 * use: in a process of its own, as SQLite cannot be stopped in the middle, and of
 * the lowest priority. Resolves when all is as it was written, or when it was
 * stopped; rejects with `StoreDamagedError`, or when it could not be read.
 */
export function checkLater(options: {
  readonly file: string;
  /** `check-worker.ts`, or what it was built to. */
  readonly workerPath: string;
}): { readonly done: Promise<void>; stop(): Promise<void> } {
  const { file, workerPath } = options;
  const flags = ['--disable-warning=ExperimentalWarning'];
  // It needs nothing of the environment, which has secrets.
  const child = spawn(process.execPath, [...flags, workerPath, file], {
    env: { NODE_ENV: 'production' },
  });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const ended = once(child, 'close');
  let isStopped = false;
  if (child.pid !== undefined) lowerPriority(child.pid);

  async function finish(): Promise<void> {
    const [code] = await ended;
    if (isStopped) return;
    if (code !== 0) throw new Error(`the database could not be checked: ${textOf(errors)}`);
    const { problem } = answerSchema.parse(JSON.parse(textOf(output)));
    if (problem !== null) throw new StoreDamagedError(file, problem);
  }

  return {
    done: finish(),
    async stop() {
      isStopped = true;
      child.kill('SIGKILL');
      await ended.catch(() => {}); // It could not be started: `done` has the error.
    },
  };
}

const textOf = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8');

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Not every system lets it; then it takes its share.
  }
}
