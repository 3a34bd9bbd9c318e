import { existsSync, readdirSync, readFileSync } from 'node:fs';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly args: readonly string[];
}

/** Signals go to processes that are found in Linux's `/proc`. */
export const canFindProcesses = (): boolean => existsSync('/proc/self/stat');

/** The processes of a browser that draw its pages. */
export function renderersOf(profile: string): number[] {
  return treeOf(profile).flatMap(({ pid, args }) =>
    args.includes('--type=renderer') ? [pid] : [],
  );
}

/** The browser's own process, and what started it: with it all of its others end. */
export function mainProcessesOf(profile: string): number[] {
  return treeOf(profile).flatMap(({ pid, args }) =>
    args.some((arg) => arg.startsWith('--type=')) ? [] : [pid],
  );
}

/** A signal for a process that may have ended by now. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** The browser with this profile, and all that descends from it. */
function treeOf(profile: string): Process[] {
  const all = readProcesses();
  const found = all.filter(({ args }) => args.includes(`--user-data-dir=${profile}`));
  const pids = new Set(found.map(({ pid }) => pid));
  for (;;) {
    const more = all.filter(({ pid, parent }) => pids.has(parent) && !pids.has(pid));
    if (more.length === 0) return all.filter(({ pid }) => pids.has(pid));
    for (const { pid } of more) pids.add(pid);
  }
}

function readProcesses(): Process[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      // `pid (name) state parent …`, and a name may have spaces and brackets.
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      // Chromium's children set their own title, with spaces between the arguments.
      const args = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split(/[\0 ]/);
      return [{ pid: Number(entry), parent, args }];
    } catch {
      // It has ended since the folder was read.
      return [];
    }
  });
}
