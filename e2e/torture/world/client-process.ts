import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientConfig } from '../client-program.ts';

/** A program with tools, whose process can be killed and started again on the same data. */
export interface ClientProcess {
  readonly config: ClientConfig;
  start(env?: Readonly<Record<string, string>>): void;
  kill(): Promise<void>;
  /** `SIGSTOP` freezes it, `SIGCONT` lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Between two starts: its identity stays, and what it knew of its calls does not. */
  loseJournal(): void;
}

export function createClientProcess(clientFile: string, config: ClientConfig): ClientProcess {
  let child: ChildProcess | undefined;
  return {
    config,
    start(env = {}) {
      child = spawn(process.execPath, [clientFile, JSON.stringify(config)], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'inherit', 'inherit'],
      });
    },
    signal: (signal) => void child?.kill(signal),
    loseJournal() {
      for (const file of globSync(join(config.dataDir, 'journal-*'))) rmSync(file);
    },
    async kill() {
      const last = child;
      child = undefined;
      if (!last || last.exitCode !== null || last.signalCode !== null) return;
      last.kill('SIGKILL');
      await once(last, 'exit');
    },
  };
}
