import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Starts a script of this folder as a process of its own, and talks to it. */
export async function startChild(script: string, args: readonly string[] = []) {
  const child = fork(join(import.meta.dirname, script), args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = failed(child, script);
  // It also ends when it is stopped; only who waits for an answer then shall hear of it.
  ended.catch(() => {});
  const [ready] = await Promise.race([once(child, 'message'), ended]);
  return {
    ready,
    async ask(message: object): Promise<unknown> {
      const answer = once(child, 'message');
      child.send(message);
      const [value] = await Promise.race([answer, ended]);
      return value;
    },
    async stop(): Promise<void> {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

async function failed(child: ChildProcess, script: string): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new Error(`${script} ended with ${code}`);
}
