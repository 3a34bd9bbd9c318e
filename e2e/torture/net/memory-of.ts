import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** MiB of memory that a process holds. Linux says it in a file; a minimal one has no `ps`. */
export const memoryOf = (pid: number): number => Math.round(kibibytesOf(pid) / 1024);

function kibibytesOf(pid: number): number {
  if (process.platform !== 'linux') {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString());
  }
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const held = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (held === undefined) throw new Error(`process ${pid} has ended`);
  return Number(held);
}
