import { execFileSync } from 'node:child_process';

/** MiB of memory that a process holds. */
export const memoryOf = (pid: number): number =>
  Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) / 1024);
